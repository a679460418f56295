import { readFileSync } from 'node:fs'

type Process = { readonly parent: number; readonly words: string }

/** Reads a process from Linux's /proc; undefined if it has ended, or on another system. */
function readProcess(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return state === 'Z' ? undefined : { parent: Number(parent), words }
  } catch {
    return undefined
  }
}

/** A command line of `npx … run test`, of `bun run test`, or of the shell that either starts. */
const isWrapper = ({ words }: Process) => /\brun (test|prove)\b|test\/runner\//.test(words)
/** A shell outside of both is the user's own, which may end before a run in its background. */
const isShell = ({ words }: Process) => /^\S*\b(ba|da|z|k)?sh /.test(words)

/** Returns the processes between the user's shell and this process, the nearest first. */
function wrappers(): number[] {
  const found: { pid: number; one: Process }[] = []
  for (let pid = process.ppid; pid > 1; ) {
    const one = readProcess(pid)
    if (!one || !isWrapper(one)) break
    found.push({ pid, one })
    pid = one.parent
  }
  while (found.length > 0 && isShell(found.at(-1)!.one)) found.pop()
  return found.map(({ pid }) => pid)
}

/**
 * Calls `onLost` once a process that wraps this run has ended: it was killed with -9 and could not pass
 * the signal on, and a run that continued alone would keep its databases and chains open.
 */
export function watchWrappers(onLost: () => void, everyMs = 500): Disposable {
  const watched = wrappers()
  const timer = setInterval(() => {
    if (watched.some((pid) => !readProcess(pid))) onLost()
  }, everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
