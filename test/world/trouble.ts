import { waitUntil } from '#infra/local/wait'
import type { Random } from '#infra/sandbox/random'
import { pause } from '#platform/deadline'
import { actsWithinMs } from './audit/doubts'
import type { World } from './drivers/stack'
import type { Calm } from './evidence'
import type { Fault } from './faults'

/** A fault that happened. `atMs` is its beginning in unix ms. */
export type Happened = {
  readonly name: string
  readonly kind: Fault['kind']
  readonly atMs: number
  readonly lastedMs: number
  /** Time in ms until everything was ready, or null if it was not measured. */
  recoveredMs: number | null
}

const everyMs = [150, 1_200] as const
/** Faults come in storms. In the calm after each, all work must be done: no service acts in time while all of them fall. */
const stormMs = 60_000
const calmMs = actsWithinMs + 5_000
const recoveryMaxMs = 60_000

/**
 * Causes faults in the seed's order, in storms. They overlap, but never two on one target, and each kind comes once before any
 * repeats. Returns the faults and the calms; the last calm has no end.
 */
export async function makeTrouble(
  world: World,
  faults: readonly Fault[],
  chance: Random,
  signal: AbortSignal,
): Promise<{ happened: readonly Happened[]; calms: readonly Calm[] }> {
  const now = () => Math.round(performance.timeOrigin + performance.now())
  const busy = new Set<string>()
  const running = new Set<Promise<void>>()
  const happened: Happened[] = []
  const between = ([min, max]: readonly [number, number]) => min + chance.belowMs(max - min + 1)

  const run = async (fault: Fault, lastsMs: number) => {
    const atMs = now()
    const end = await fault.begin(world, chance)
    try {
      await pause(lastsMs, signal)
    } finally {
      await end()
    }
    const one: Happened = {
      name: fault.name,
      kind: fault.kind,
      atMs,
      lastedMs: now() - atMs,
      recoveredMs: null,
    }
    happened.push(one)
    if (!fault.isOver) return
    const endedAt = now()
    await waitUntil(`recovery from "${fault.name}"`, () => fault.isOver!(world), recoveryMaxMs, 100)
    one.recoveredMs = now() - endedAt
  }
  const wanted = new Set(faults.map(({ kind }) => kind))
  const draw = () => {
    const first = faults.filter(({ kind }) => wanted.has(kind))
    const among = first.length > 0 ? first : faults
    return among[chance.belowMs(among.length)]!
  }
  const causeOne = () => {
    const fault = draw()
    const lastsMs = between(fault.lastsMs)
    if (fault.targets.some((target) => busy.has(target) || world.retired.has(target))) return
    for (const target of fault.targets) busy.add(target)
    wanted.delete(fault.kind)
    const work = run(fault, lastsMs)
      .catch((error: Error) => {
        console.error(`  ${fault.name}: ${error.message}`)
        if (happened.every(({ kind }) => kind !== fault.kind)) wanted.add(fault.kind)
      })
      .finally(() => {
        for (const target of fault.targets) busy.delete(target)
        running.delete(work)
      })
    running.add(work)
  }
  const calms: Calm[] = []
  for (;;) {
    const endsAt = performance.now() + stormMs
    while (!signal.aborted && performance.now() < endsAt) {
      causeOne()
      await pause(between(everyMs), signal)
    }
    await Promise.all(running)
    const fromMs = now()
    await pause(calmMs, signal)
    if (signal.aborted) return { happened, calms: [...calms, { fromMs, toMs: Number.POSITIVE_INFINITY }] }
    calms.push({ fromMs, toMs: now() })
  }
}
