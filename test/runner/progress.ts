import { type Block, type Counts, countsIn, failureIn } from './output'

type Out = { readonly isTTY?: boolean; readonly write: (text: string) => unknown }

const terminalMs = 1_000
/** A log keeps every line. */
const logMs = 20_000

/**
 * Shows the progress of a run: elapsed time, suites and tests, an estimate of the time left, and
 * each failure in full when it happens. On a terminal one line is replaced every second. `suites` has the
 * recorded seconds of each suite; `now` returns seconds.
 */
export function openProgress(
  suites: ReadonlyMap<string, number>,
  workers: number,
  out: Out = process.stderr,
  now: () => number = () => performance.now() / 1_000,
) {
  const begun = now()
  /** The suite heard of last is the last. */
  const heard = new Set<string>()
  const tests = { passed: 0, failed: 0 }
  const isTerminal = out.isTTY === true
  let isShown = false
  const clear = () => {
    if (isShown) out.write('\r\x1b[2K')
    isShown = false
  }
  const show = () => {
    // As many suites run as there are workers: those heard of last.
    const done = [...heard].slice(0, Math.max(0, heard.size - workers))
    const elapsed = now() - begun
    const left = secondsLeft({ elapsed, done: sum(done), all: sum(suites.keys()), workers })
    const failed = tests.failed > 0 ? `, ${tests.failed} failed` : ''
    const line =
      `  ${clockText(elapsed)}  ${done.length} of ${suites.size} suites, ` +
      `${tests.passed.toLocaleString('en')} tests passed${failed}, about ${clockText(left)} left`
    clear()
    out.write(isTerminal ? line : `${line}\n`)
    isShown = isTerminal
  }
  const sum = (paths: Iterable<string>) =>
    [...paths].reduce((seconds, path) => seconds + (suites.get(path) ?? 0), 0)
  const timer = setInterval(show, isTerminal ? terminalMs : logMs)
  return {
    show,
    add: (block: Block) => {
      const { passed, failed } = countsIn(block)
      heard.delete(block.path)
      heard.add(block.path)
      tests.passed += passed
      tests.failed += failed
      const failure = failureIn(block)
      if (failure === undefined) return
      clear()
      out.write(`\n${failure}\n\n`)
    },
    /** Prints the time, then the counts on a line of their own, as CI reads them: `N passed, N failed`. */
    end: ({ passed, failed, skipped }: Counts, print: (line: string) => void) => {
      clearInterval(timer)
      clear()
      const skips = skipped > 0 ? `, ${skipped} tests skipped` : ''
      out.write(`${suites.size} suites in ${clockText(now() - begun)}${skips}\n`)
      print(`${passed} passed, ${failed} failed`)
    },
  }
}

/** Formats seconds as minutes and seconds: `3:07`. */
export const clockText = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/**
 * Estimates the seconds left from the recorded seconds of the suites that are done and of all. The recorded
 * times decide at first, the pace of this run later.
 */
export function secondsLeft(run: {
  elapsed: number
  done: number
  all: number
  workers: number
}): number {
  const share = run.all > 0 ? run.done / run.all : 1
  const asRecorded = (run.all - run.done) / run.workers
  const atThisPace = share > 0 ? (run.elapsed * (1 - share)) / share : asRecorded
  return share * atThisPace + (1 - share) * asRecorded
}
