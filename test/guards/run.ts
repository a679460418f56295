import { printOutcome } from '../prove/outcome'
import { type Copy, openCopy, takeOut } from './copy'
import type { Guard } from './guard'
import { type GuardVerdict, rowOf, tryTests } from './judge'
import { guards } from './list/all'
import { type Options, readOptions, usage } from './options'

/** This script is `bun run prove guards`: it removes each guard and expects its test to fail. */
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
const wordsOf = ({ guard, kind, index = '', test }: Guard) =>
  `${kind} ${guard} ${index} ${test.file} ${test.name}`.toLowerCase()
const chosen = guards.filter((one) => !only || wordsOf(one).includes(only.toLowerCase()))
if (chosen.length === 0) {
  console.error(`no guard matches ${only}`)
  process.exit(2)
}
const startedMs = Date.now()
const secondsSince = (ms: number) => ((Date.now() - ms) / 1_000).toFixed(1).padStart(6)
{
  using first = openCopy()
  using second = openCopy()
  const copies = [first, second]
  const failing = await failingWithAll(copies)
  const tried = chosen.filter(({ test }) => !failing.has(test.file))
  const found = failing.size + (await countKept(copies, tried))
  printOutcome({ amount: `${chosen.length} guards`, found })
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

/** Returns the tests that fail with every guard in place, which prove nothing. */
async function failingWithAll(copies: readonly Copy[]): Promise<ReadonlySet<string>> {
  const byFile = Map.groupBy(chosen, ({ test }) => test.file)
  const failing = new Set<string>()
  await withEach(copies, byFile, async (copy, [file, its]) => {
    const tests = its.map(({ test }) => test)
    const verdict = await tryTests(copy, file, tests)
    if (verdict.is === 'green') return
    failing.add(file)
    console.log(`${file} fails with every guard in place: ${told(verdict)}`)
  })
  if (failing.size === 0) console.log(`${secondsSince(startedMs)} s  every test passes with all guards in place`)
  return failing
}

async function countKept(copies: readonly Copy[], tried: readonly Guard[]): Promise<number> {
  const kept: string[] = []
  await withEach(copies, tried, async (copy, one) => {
    const fromMs = Date.now()
    const verdict = await withoutIt(copy, one)
    const isMissed = verdict.is === 'red'
    const { file, name, row } = one.test
    const words = rowOf({ row }).map((word) => ` (${word})`)
    const word = isMissed ? 'detected' : 'NOT DETECTED'
    console.log(`${secondsSince(fromMs)} s  ${word}  ${one.kind}: ${one.guard}`)
    console.log(`          ${file}: ${name}${words.join('')}`)
    if (!isMissed) kept.push(`${one.guard}: ${told(verdict)}`)
  })
  const { length } = tried
  console.log(`${length - kept.length} of ${length} guards: the test fails without the guard`)
  for (const line of kept) console.log(`  ${line}`)
  return kept.length
}

async function withoutIt(copy: Copy, guard: Guard): Promise<GuardVerdict> {
  try {
    using _gone = await takeOut(copy, guard)
    return await tryTests(copy, guard.test.file, [guard.test])
  } catch (error) {
    return { is: 'broken', why: (error as Error).message }
  }
}

function told(verdict: GuardVerdict): string {
  if (verdict.is === 'green') return 'its test passes without it'
  return verdict.is === 'red' ? verdict.by : `inconclusive: ${verdict.why}`
}
