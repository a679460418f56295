type Line = { what: string; took: number; went: 'well' | 'wrong'; seen: string }
const lines: Line[] = []

export const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/** A vital step that went wrong: what comes after it is not tried. */
let lost: string | undefined

/** Does one step and writes its line; what it answers, or throws, is what was seen. */
export async function step(
  what: string,
  work: () => Promise<string>,
  { vital = false } = {},
): Promise<void> {
  const startedAt = Date.now()
  const tried = lost === undefined ? work() : Promise.reject(new Error(`not tried after: ${lost}`))
  const line = await tried.then(
    (seen) => ({ went: 'well' as const, seen }),
    (error: Error) => ({ went: 'wrong' as const, seen: error.message }),
  )
  const done = { what, took: Date.now() - startedAt, ...line }
  lines.push(done)
  if (vital && done.went === 'wrong') lost ??= what
  console.log(`${done.went.padEnd(5)} ${seconds(done.took).padStart(8)}  ${what}: ${done.seen}`)
}

/** Throws unless it holds: a step that sees otherwise went wrong. */
export function expecting(held: boolean, otherwise: string): void {
  if (!held) throw new Error(otherwise)
}

/** Every line as a table, and the exit code: 0 when each went well. */
export function report(): { text: string; code: number; steps: number; wrong: number } {
  const wrong = lines.filter(({ went }) => went === 'wrong').length
  const took = lines.reduce((sum, line) => sum + line.took, 0)
  const rows = lines.map(
    ({ what, took, went, seen }) =>
      `| ${what} | ${went} | ${seconds(took)} | ${seen.split('\n')[0]} |`,
  )
  const table = ['', '| step | went | took | seen |', '|---|---|--:|---|', ...rows].join('\n')
  const sum = `${lines.length - wrong} went well, ${wrong} went wrong, ${seconds(took)} in all`
  return { text: `${table}\n${sum}`, code: wrong === 0 ? 0 : 1, steps: lines.length, wrong }
}
