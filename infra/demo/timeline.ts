import { openProgress } from '#infra/local/start/progress'

/** Tells a story line by line, with the seconds since it began. */
export type Timeline = ReturnType<typeof openTimeline>

const dim = (text: string) => (process.stdout.isTTY ? `\x1b[2m${text}\x1b[0m` : text)
const bold = (text: string) => (process.stdout.isTTY ? `\x1b[1m${text}\x1b[0m` : text)

export function openTimeline(now: () => number = Date.now) {
  const begun = now()
  const clock = () => `${((now() - begun) / 1000).toFixed(1).padStart(6)} s`
  return {
    chapter: (title: string) => console.log(`\n${bold(title)}`),
    say: (line: string) => console.log(`${dim(clock())}  ${line}`),
    /** What is waited for is named while that takes longer than a moment. */
    during: async <T>(what: string, work: Promise<T>): Promise<T> => {
      using progress = openProgress()
      return await progress.during(what, work)
    },
  }
}

/** Micro-AUSD for people: 3076923 is "3.076923 AUSD". */
export const ausdText = (micro: string | bigint): string => {
  const digits = BigInt(micro).toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)} AUSD`
}

/** Whole rupiah for people: 50000 is "Rp 50.000". */
export const rupiahText = (minor: string): string => `Rp ${minor.replace(/\B(?=(\d{3})+$)/g, '.')}`
