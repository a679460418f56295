import { printOutcome } from '../prove/outcome'
import { type Copy, openCopy, takeOut } from './copy'
import type { GuardVerdict } from './judge'
import { type Mutant, mutants } from './mutants'
import { type Options, readOptions, usage } from './options'
import { placeOf, runWithAll, runWithout, wordsOf } from './prove'

/** This script is `bun run prove guards`: it removes each guard and expects its proof to notice. */
if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit(0)
}
let options: Options
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}

const { only } = options
const nameOf = ({ guards }: Mutant) => guards.join(', with ')
const isWanted = (one: Mutant) =>
  !only || `${nameOf(one)} ${one.proof.by} ${wordsOf(one.proof)}`.toLowerCase().includes(only.toLowerCase())
const chosen = mutants.filter(isWanted)
if (chosen.length === 0) {
  console.error(`no guard matches ${only}`)
  process.exit(2)
}
// The copies are removed when the process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
const startedMs = Date.now()
const secondsSince = (ms: number) => ((Date.now() - ms) / 1_000).toFixed(1).padStart(6)
{
  using first = openCopy()
  using second = openCopy()
  const copies = [first, second]
  const failing = await failingWithAll(copies)
  const tried = chosen.filter(({ proof }) => !failing.has(placeOf(proof)))
  const found = failing.size + (await countKept(copies, tried))
  printOutcome({ amount: `${new Set(chosen.flatMap(({ guards }) => guards)).size} guards`, found })
  process.exitCode = found === 0 ? 0 : 1
}

/** Works on two items at once, because most of the time goes into starting suites. */
async function withEach<One>(
  copies: readonly Copy[],
  all: Iterable<One>,
  act: (copy: Copy, one: One) => Promise<void>,
): Promise<void> {
  const waiting = [...all]
  const work = async (copy: Copy) => {
    for (let one = waiting.shift(); one; one = waiting.shift()) await act(copy, one)
  }
  await Promise.all(copies.map(work))
}

/** Returns the files, races and commands that fail with every guard in place, which prove nothing. */
async function failingWithAll(copies: readonly Copy[]): Promise<ReadonlySet<string>> {
  const byPlace = Map.groupBy(chosen, ({ proof }) => placeOf(proof))
  const failing = new Set<string>()
  await withEach(copies, byPlace, async (copy, [place, its]) => {
    const verdict = await runWithAll(
      copy,
      its.map(({ proof }) => proof),
    )
    if (verdict.is === 'green') return
    failing.add(place)
    console.log(`${place} fails with every guard in place: ${told(verdict)}`)
  })
  if (failing.size === 0) console.log(`${secondsSince(startedMs)} s  every proof passes with all guards in place`)
  return failing
}

async function countKept(copies: readonly Copy[], tried: readonly Mutant[]): Promise<number> {
  const kept: string[] = []
  await withEach(copies, tried, async (copy, one) => {
    const fromMs = Date.now()
    const verdict = await withoutIt(copy, one)
    const isNoticed = verdict.is === 'red'
    console.log(`${secondsSince(fromMs)} s  ${isNoticed ? 'detected' : 'NOT DETECTED'}  ${nameOf(one)}`)
    console.log(`          ${wordsOf(one.proof)}`)
    if (!isNoticed) kept.push(`${nameOf(one)}: ${told(verdict)}`)
  })
  const { length } = tried
  console.log(`${length - kept.length} of ${length} times, the missing guard was noticed`)
  for (const line of kept) console.log(`  ${line}`)
  return kept.length
}

async function withoutIt(copy: Copy, { guards, proof }: Mutant): Promise<GuardVerdict> {
  try {
    using _gone = await takeOut(copy, guards)
    return await runWithout(copy, proof)
  } catch (error) {
    return { is: 'broken', why: (error as Error).message }
  }
}

function told(verdict: GuardVerdict): string {
  if (verdict.is === 'green') return 'the proof passes without it'
  return verdict.is === 'red' ? verdict.by : `inconclusive: ${verdict.why}`
}
