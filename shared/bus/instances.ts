import { ErrorCode, type NatsError, RequestStrategy } from 'nats'
import { leftSubject } from '#shared/bus/copies'
import type { Bus } from '#shared/bus/open'
import { type Clock, systemClock } from '#shared/clock'
import { within } from '#shared/deadline'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

/**
 * An instance that was up, did not announce a shutdown, and does not respond. `hangs`: it is still
 * connected; `gone`: it is not, and no other instance has replaced it. A hanging process becomes `gone`
 * when nats-server drops its connection, about 15 s later; only its machine can tell the difference.
 */
export type DownCopy = {
  readonly service: ServiceName
  readonly copy: string
  readonly state: 'hangs' | 'gone'
  readonly since: string
}

/** Services without a responding instance, and single instances that are down. */
export type Attendance = {
  /** Instances that responded. */
  readonly up: readonly string[]
  readonly silent: readonly ServiceName[]
  readonly down: readonly DownCopy[]
}

export type Roster = { readonly call: () => Promise<Attendance> }

type Known = {
  readonly service: ServiceName
  readonly firstAt: number
  lastAt: number
  downSince: number | undefined
  isGone: boolean
  /** True if it replaced an instance that is gone. */
  isReplacement: boolean
}

/** All live instances respond within this, even on a busy machine. */
const callMs = 800
/** Deadline for a direct request to an instance that did not respond with the others. */
const aloneMs = 300
/** How long a gone instance without a replacement is reported. */
const goneForMs = 3_600_000

/** Services that respond to `$SRV.PING`; the gateway serves HTTP. */
const others = serviceNames.filter((name) => name !== 'gateway')
const isOther = (name: string): name is ServiceName => (others as readonly string[]).includes(name)

/**
 * Tracks all instances of all services. It remembers each instance that ever responded, so a frozen one
 * is reported as down even while others of its service respond.
 */
export function openRoster({ nc }: Bus, clock: Clock = systemClock): Roster {
  const copies = new Map<string, Known>()
  nc.subscribe(leftSubject('*'), { callback: (_, message) => copies.delete(message.string()) })

  const heard = (service: ServiceName, copy: string) => {
    const now = clock()
    const known = copies.get(copy)
    const usual = { service, firstAt: now, isReplacement: false, ...known }
    copies.set(copy, { ...usual, lastAt: now, downSince: undefined, isGone: false })
  }
  /** Ends once all known instances have responded; new ones are still recorded until the deadline. */
  const askAll = async (): Promise<ReadonlySet<string>> => {
    const answered = new Set<string>()
    const all = Promise.withResolvers<void>()
    const isComplete = () =>
      [...copies].every(([copy, { isGone }]) => isGone || answered.has(copy)) &&
      silentAmong((copy) => answered.has(copy), copies).length === 0
    const listening = async () => {
      const how = { strategy: RequestStrategy.Timer, maxWait: callMs }
      for await (const reply of await nc.requestMany('$SRV.PING', undefined, how)) {
        const { name, id } = reply.json<{ name: string; id: string }>()
        if (!isOther(name)) continue
        heard(name, id)
        answered.add(id)
        if (isComplete()) all.resolve()
      }
    }
    void listening().then(all.resolve, all.reject)
    await within(all.promise, callMs, 'the services').catch(() => {})
    return answered
  }
  const askAlone = async (copy: string, known: Known) => {
    const asking = nc.request(`$SRV.PING.${known.service}.${copy}`, undefined, { timeout: aloneMs })
    const state = await asking.then(() => 'answers' as const, stateBy)
    if (!copies.has(copy)) return // It shut down during the request.
    if (state === 'answers') return heard(known.service, copy)
    known.downSince ??= clock()
    known.isGone = state === 'gone'
    if (known.isGone && clock() - known.downSince > goneForMs) copies.delete(copy)
  }
  return {
    call: async () => {
      const answered = await askAll()
      const late = [...copies].filter(([copy]) => !answered.has(copy))
      await Promise.all(late.map(([copy, known]) => askAlone(copy, known)))
      forgetReplaced(copies)
      const isUp = (copy: string) => copies.get(copy)?.downSince === undefined
      const up = [...copies.keys()].filter(isUp)
      return { up, silent: silentAmong(isUp, copies), down: downAmong(copies) }
    },
  }
}

/** nats-server reports at once if no such subscription exists. */
const stateBy = (error: NatsError) =>
  error.code === ErrorCode.NoResponders ? ('gone' as const) : ('hangs' as const)

/** Removes gone instances that were replaced: another one started after they last responded. */
function forgetReplaced(copies: Map<string, Known>): void {
  for (const [copy, gone] of copies) {
    if (!gone.isGone) continue
    const newer = [...copies.values()].find(
      ({ service, firstAt, isReplacement, downSince }) =>
        service === gone.service &&
        firstAt > gone.lastAt &&
        !isReplacement &&
        downSince === undefined,
    )
    if (!newer) continue
    newer.isReplacement = true
    copies.delete(copy)
  }
}

const downAmong = (copies: ReadonlyMap<string, Known>): DownCopy[] =>
  [...copies].flatMap(([copy, { service, downSince, isGone }]) =>
    downSince === undefined
      ? []
      : {
          ...{ service, copy, state: isGone ? ('gone' as const) : ('hangs' as const) },
          since: new Date(downSince).toISOString(),
        },
  )

/** Returns services without an instance for which `answered` is true. */
function silentAmong(answered: (copy: string) => boolean, copies: ReadonlyMap<string, Known>) {
  const up = new Set([...copies].flatMap(([copy, { service }]) => (answered(copy) ? service : [])))
  return others.filter((name) => !up.has(name))
}
