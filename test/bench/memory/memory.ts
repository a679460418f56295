import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { type ServiceName, serviceNames } from '#shared/messages/topic'
import { startLoad } from '../../scale/load'
import { type Ask, cashOut, type Flow, flowsEnding, send, topUp } from '../../support/flows'
import { verifiedUsers } from '../../support/people'
import { against, type Figure } from '../figure'
import type { Options } from '../options'
import { type Held, memoryOf } from './process-memory'
import { slopeOf } from './slope'

const bench = 'memory'
const peopleCount = 40
/** AUSD (10⁻⁶) of each user at the start, enough for ten minutes. */
const startMicro = 5_000_000_000n
/** Pause in ms between units of work, of which one in eight moves money and the others are four reads each. */
const paceMs = 40
const sampleMs = 1_000
const restMs = 10_000

export async function benchMemory(stack: Stack, options: Options): Promise<Figure[]> {
  const bare = await bareProcess()
  const people = await verifiedUsers(stack, peopleCount, { ausdMicro: startMicro })
  await pause(restMs)
  const rest = sampled(stack, 0)

  const begun: Flow[] = []
  const move = async (person: Person, turn: number, ask: Ask) => {
    begun.push(await moving[turn % moving.length]!(stack, person, ask))
  }
  const load = startLoad({ people, move }, paceMs)
  const startedAt = performance.now()
  const samples: Sample[] = []
  const minutesNow = () => (performance.now() - startedAt) / 60_000
  while (minutesNow() < options.minutes) {
    await pause(sampleMs)
    samples.push(sampled(stack, minutesNow()))
  }
  await load.stop()
  const failed = load.seen.filter(({ status }) => status !== 200)
  if (failed.length > 0) throw new Error(`${failed.length} requests failed, the first: ${JSON.stringify(failed[0])}`)
  await flowsEnding(begun, 60_000)
  await pause(restMs)
  const after = sampled(stack, minutesNow())

  const requestsPerSecond = load.seen.length / (60 * options.minutes)
  return [
    {
      bench,
      name: 'bare Bun process, RSS',
      value: bare.rssMb,
      unit: 'MB',
      note: `PSS ${mb(bare.pssMb)}; load: ${Math.round(requestsPerSecond)} requests/s`,
    },
    ...serviceNames.flatMap((name) => figuresOf(name, { rest, samples, after, bare })),
  ]
}

const moving: readonly ((stack: Stack, person: Person, ask: Ask) => Promise<Flow>)[] = [
  (stack, person, ask) => topUp(stack, person, {}, ask),
  (stack, person, ask) => cashOut(stack, person, { ausdMicro: 2_000_000n }, ask),
  (_, person, ask) => send(person, 100_000n, ask),
]

type Sample = { readonly atMinutes: number; readonly held: Readonly<Record<ServiceName, Held>> }

const sampled = (stack: Stack, atMinutes: number): Sample => ({
  atMinutes,
  held: Object.fromEntries(serviceNames.map((name) => [name, memoryOf(stack.process(name).pid())])) as Sample['held'],
})

type MemoryRun = { rest: Sample; samples: readonly Sample[]; after: Sample; bare: Held }

function figuresOf(name: ServiceName, { rest, samples, after, bare }: MemoryRun): Figure[] {
  const most = (of: keyof Held) => Math.max(...samples.map(({ held }) => held[name][of]))
  const points = samples.map(({ atMinutes, held }) => ({
    at: atMinutes,
    value: held[name].rssMb,
  }))
  const both = ({ held }: Sample) => `${mb(held[name].rssMb)} (PSS ${mb(held[name].pssMb)})`
  return [
    {
      bench,
      name: `${name} under load, peak RSS`,
      value: most('rssMb'),
      unit: 'MB',
      ...against(most('rssMb'), bare.rssMb, 'bare Bun process'),
      aim: { of: 'value', bound: 'at most', limit: 120 },
      note: `PSS ${mb(most('pssMb'))}; at rest ${both(rest)}, after ${both(after)}`,
    },
    {
      bench,
      name: `${name} under load, growth of RSS`,
      value: slopeOf(points),
      unit: 'MB/min',
      note: `over ${mb(samples.at(-1)?.atMinutes ?? 0)} minutes`,
    },
  ]
}

const mb = (value: number) => value.toFixed(value < 10 ? 1 : 0)

/** Measures an idle Bun process, the lower bound. */
async function bareProcess(): Promise<Held> {
  await using child = Bun.spawn([process.execPath, '-e', 'console.log(1); setInterval(() => {}, 1e6)'], {
    stdout: 'pipe',
  })
  await child.stdout.getReader().read()
  return memoryOf(child.pid)
}
