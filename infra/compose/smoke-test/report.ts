type ReportLine = { what: string; took: number; went: 'ok' | 'failed'; seen: string }
const lines: ReportLine[] = []

export const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

let lost: string | undefined

export async function step(what: string, work: () => Promise<string>, { vital = false } = {}): Promise<void> {
  const startedAt = Date.now()
  const tried = lost === undefined ? work() : Promise.reject(new Error(`skipped: ${lost} failed`))
  const line = await tried.then(
    (seen) => ({ went: 'ok' as const, seen }),
    (error: Error) => ({ went: 'failed' as const, seen: error.message }),
  )
  const done = { what, took: Date.now() - startedAt, ...line }
  lines.push(done)
  if (vital && done.went === 'failed') lost ??= what
  console.log(`${done.went.padEnd(6)} ${seconds(done.took).padStart(8)}  ${what}: ${done.seen}`)
}

export function expecting(held: boolean, otherwise: string): void {
  if (!held) throw new Error(otherwise)
}

export function report(): { text: string; code: number; steps: number; wrong: number } {
  const wrong = lines.filter(({ went }) => went === 'failed').length
  const took = lines.reduce((sum, line) => sum + line.took, 0)
  const rows = lines.map(
    ({ what, took, went, seen }) => `| ${what} | ${went} | ${seconds(took)} | ${seen.split('\n')[0]} |`,
  )
  const table = ['', '| step | result | time | details |', '|---|---|--:|---|', ...rows].join('\n')
  const sum = `${lines.length - wrong} succeeded, ${wrong} failed, ${seconds(took)} in total`
  return { text: `${table}\n${sum}`, code: wrong === 0 ? 0 : 1, steps: lines.length, wrong }
}
