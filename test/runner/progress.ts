import { type Block, type Counts, countsIn, failureIn } from './output'

type Out = { readonly isTTY?: boolean; readonly write: (text: string) => unknown }

const terminalMs = 1_000
/** Interval of lines in ms for a log, which keeps every line. */
const logMs = 20_000

/**
 * Shows the progress of a run. A terminal's line is replaced every second. `suites` has recorded seconds; `now` returns
 * seconds.
 */
export function openProgress(
  suites: ReadonlyMap<string, number>,
  workers: number,
  out: Out = process.stderr,
  now: () => number = () => performance.now() / 1_000,
) {
  const begun = now()
  /** Suites in the order of their output, of which the last one printed last. */
  const heard = new Set<string>()
  const tests = { passed: 0, failed: 0 }
  const isTerminal = out.isTTY === true
  let isShown = false
  const clear = () => {
    if (isShown) out.write('\r\x1b[2K')
    isShown = false
  }
  const show = () => {
    // As many suites are running as there are workers.
    const done = [...heard].slice(0, Math.max(0, heard.size - workers))
    const running = [...heard].slice(done.length)
    const elapsed = now() - begun
    const seconds = { done: sum(done), running: sum(running), all: sum(suites.keys()) }
    const left = secondsLeft({ elapsed, workers, ...seconds })
    const failed = tests.failed > 0 ? `, ${tests.failed} failed` : ''
    const line =
      `  ${clockText(elapsed)}  ${done.length} of ${suites.size} suites, ` +
      `${tests.passed.toLocaleString('en')} tests passed${failed}, about ${clockText(left)} left`
    clear()
    out.write(isTerminal ? line : `${line}\n`)
    isShown = isTerminal
  }
  const sum = (paths: Iterable<string>) => [...paths].reduce((seconds, path) => seconds + (suites.get(path) ?? 0), 0)
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
    /** Prints the result, whose line `N passed, N failed` CI reads. */
    end: ({ passed, failed, skipped }: Counts, print: (line: string) => void) => {
      clearInterval(timer)
      clear()
      const skips = skipped > 0 ? `, ${skipped} tests skipped` : ''
      out.write(`${suites.size} suites in ${clockText(now() - begun)}${skips}\n`)
      print(`${passed} passed, ${failed} failed`)
    },
  }
}

/** Writes a time as `3:07`. */
export const clockText = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/**
 * Estimates the time left from recorded seconds, and from this run's pace once a suite is done. Running suites count
 * half.
 */
export function secondsLeft(run: {
  elapsed: number
  done: number
  running: number
  all: number
  workers: number
}): number {
  if (run.done === 0) return Math.max(0, run.all / run.workers - run.elapsed)
  const share = (run.done + run.running / 2) / run.all
  const asRecorded = ((1 - share) * run.all) / run.workers
  const atThisPace = (run.elapsed * (1 - share)) / share
  return share * atThisPace + (1 - share) * asRecorded
}
