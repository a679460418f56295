export type StartProgress = {
  readonly during: <T>(what: string, work: Promise<T>) => Promise<T>
}

const silentMs = 2_000
const everyMs = 1_000
/** Lines accumulate outside a terminal. */
const everyLineMs = 5_000

type Out = { readonly isTTY?: boolean; readonly write: (text: string) => unknown }

export function openProgress(out: Out = process.stderr, now: () => number = Date.now): StartProgress & Disposable {
  const begunAt = now()
  const running = new Set<string>()
  const isTerminal = out.isTTY === true
  let isShown = false
  const clear = () => {
    if (isShown && isTerminal) out.write('\r\x1b[2K')
    isShown = false
  }
  const show = () => {
    const tookMs = now() - begunAt
    if (running.size === 0 || tookMs < silentMs) return
    clear()
    const line = `  ${(tookMs / 1000).toFixed(0).padStart(3)} s  ${[...running].join(', ')} …`
    out.write(isTerminal ? line : `${line}\n`)
    isShown = true
  }
  const timer = setInterval(show, isTerminal ? everyMs : everyLineMs)
  const first = setTimeout(show, silentMs)
  return {
    during: async (what, work) => {
      running.add(what)
      try {
        return await work
      } finally {
        running.delete(what)
      }
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
      clearTimeout(first)
      clear()
    },
  }
}

export const noProgress: StartProgress = { during: (_, work) => work }
