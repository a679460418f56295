import { openProgress } from '#infra/local/start/progress'

export type Timeline = ReturnType<typeof openTimeline>

const dim = (text: string) => (process.stdout.isTTY ? `\x1b[2m${text}\x1b[0m` : text)
const bold = (text: string) => (process.stdout.isTTY ? `\x1b[1m${text}\x1b[0m` : text)

const erase = process.stdout.isTTY ? '\r\x1b[2K' : ''

export function openTimeline(now: () => number = Date.now) {
  const begun = now()
  const clock = () => `${((now() - begun) / 1000).toFixed(1).padStart(6)} s`
  return {
    chapter: (title: string) => console.log(`\n${bold(title)}`),
    say: (line: string) => console.log(`${erase}${dim(clock())}  ${line}`),
    during: async <T>(what: string, work: Promise<T>): Promise<T> => {
      using progress = openProgress()
      return await progress.during(what, work)
    },
  }
}
