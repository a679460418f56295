/** Says what is waited for, with the time it has taken, as soon as that is longer than a moment. */
export type Progress = {
  /** What `work` is called while it runs. */
  readonly during: <T>(what: string, work: Promise<T>) => Promise<T>
}

/** Nobody wonders before. */
const silentMs = 2_000
const everyMs = 1_000
/** Where lines stay, each second would be too many. */
const everyLineMs = 5_000

type Out = { readonly isTTY?: boolean; readonly write: (text: string) => unknown }

/** Of several things at once, all that still run are named; on a terminal in one line that is replaced. */
export function openProgress(
  out: Out = process.stderr,
  now: () => number = Date.now,
): Progress & Disposable {
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

/** For suites, which say nothing. */
export const noProgress: Progress = { during: (_, work) => work }
