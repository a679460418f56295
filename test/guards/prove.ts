import type { Copy } from './copy'
import type { EngineRun } from './engines'
import { type GuardVerdict, judge, patternOf } from './judge'
import type { NamedTest } from './marks'
import type { Proof } from './mutants'

/** Deadline of a test in ms, because a missing guard may show as one. */
const testMs = 40_000
const maxMs = { test: 180_000, race: 600_000, engine: 900_000 }
/** Most orders of a race, enough to include one that goes wrong, which ends it. */
const sample = 150

/** Returns what is run for a proof: a file of tests, a race or a command. */
export function placeOf(proof: Proof): string {
  if (proof.by === 'test') return proof.test.file
  return proof.by === 'race' ? `race: ${proof.race}` : proof.run.tries[0]!.join(' ')
}

export function wordsOf(proof: Proof): string {
  if (proof.by !== 'test') return placeOf(proof)
  const { file, name, row } = proof.test
  return `${file}: ${name}${row.map((value) => ` (${value})`).join('')}`
}

/** Runs proofs of one place on a copy that has every guard. */
export async function runWithAll(copy: Copy, proofs: readonly Proof[]): Promise<GuardVerdict> {
  const [first] = proofs
  if (first!.by === 'engine') {
    // On a busy machine, a run can have findings of its own, but not these.
    const finds = proofs.flatMap((one) => (one.by === 'engine' ? one.run.finds : []))
    const { said } = await run(copy, maxMs.engine, first!.run.tries[0]!)
    const line = said.split('\n').find((text) => finds.some((one) => one.test(text)))
    return line === undefined ? { is: 'green' } : { is: 'red', by: line.trim() }
  }
  if (first!.by === 'race') return runRace(copy, first!.race)
  return runTests(
    copy,
    proofs.flatMap((one) => (one.by === 'test' ? one.test : [])),
  )
}

/** Runs a proof on a copy that lacks its guards. */
export async function runWithout(copy: Copy, proof: Proof): Promise<GuardVerdict> {
  if (proof.by === 'engine') return runEngine(copy, proof.run)
  return proof.by === 'race' ? runRace(copy, proof.race) : runTests(copy, [proof.test])
}

async function runTests(copy: Copy, tests: readonly NamedTest[]): Promise<GuardVerdict> {
  const patterns = tests.map(patternOf)
  const titles = patterns.map((one) => `(${one})`).join('|')
  const words = ['test', `./${tests[0]!.file}`, '-t', titles, '--timeout', String(testMs)]
  const { said } = await run(copy, maxMs.test, words)
  return judge(said, patterns)
}

async function runRace(copy: Copy, name: string): Promise<GuardVerdict> {
  const words = ['test/orders/run.ts', name, '--sample', String(sample), '--until-wrong']
  const { code, said } = await run(copy, maxMs.race, words)
  if (code === 0) return { is: 'green' }
  const wrong = /^ *WRONG in [\d,]+: (.*)$/m.exec(said)?.[1]
  return wrong === undefined ? { is: 'broken', why: endOf(said) } : { is: 'red', by: wrong }
}

/** Runs the commands in turn until all that must be found was found. */
async function runEngine(copy: Copy, { tries, finds }: Pick<EngineRun, 'tries' | 'finds'>): Promise<GuardVerdict> {
  const found = new Map<RegExp, string>()
  for (const words of tries) {
    const { code, said } = await run(copy, maxMs.engine, words)
    if (code === 0) continue
    const lines = said.split('\n')
    for (const one of finds) {
      const line = lines.find((text) => one.test(text))
      if (line !== undefined) found.set(one, line.trim())
    }
    if (code !== 1 || found.size === 0) return { is: 'broken', why: endOf(said) }
    if (found.size === finds.length) return { is: 'red', by: [...found.values()].join('; ') }
  }
  if (found.size === 0) return { is: 'green' }
  return { is: 'broken', why: `not found: ${finds.filter((one) => !found.has(one)).join(', ')}` }
}

async function run({ dir, tmp }: Copy, deadlineMs: number, words: readonly string[]) {
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: dir,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, TMPDIR: tmp, NO_COLOR: '1' },
  })
  const timer = setTimeout(() => child.kill(), deadlineMs)
  const texts = await Promise.all([child.stdout, child.stderr].map((one) => new Response(one).text()))
  const code = await child.exited
  clearTimeout(timer)
  return { code, said: texts.join('\n') }
}

const endOf = (said: string): string => said.trim().split('\n').slice(-3).join(' ')
