import { ErrorCode, type NatsError, RequestStrategy } from 'nats'
import { leftSubject } from '#shared/bus/copies'
import type { Bus } from '#shared/bus/open'
import { type Clock, systemClock } from '#shared/clock'
import { within } from '#shared/deadline'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

/**
 * A copy that was there, did not say that it leaves, and does not answer. `hangs`: its connection is
 * there; `gone`: its connection is not, and no other copy came in its place. So a process that hangs is
 * `gone` too once nats-server has given its connection up, some 15 s later: only its machine can tell.
 */
export type DownCopy = {
  readonly service: ServiceName
  readonly copy: string
  readonly state: 'hangs' | 'gone'
  readonly since: string
}

/** Services of which no copy answers, and copies that are down though others may answer. */
export type Attendance = {
  /** The copies that answered. */
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
  /** It came in the place of one that is gone. */
  isReplacement: boolean
}

/** All that live answer within this, also on a busy machine. */
const callMs = 800
/** Whoever did not answer with the others is asked alone, for so long. */
const aloneMs = 300
/** Nobody came in its place for so long: it is not awaited any more. */
const goneForMs = 3_600_000

/** The gateway answers by HTTP; the others over `$SRV.PING`. */
const others = serviceNames.filter((name) => name !== 'gateway')
const isOther = (name: string): name is ServiceName => (others as readonly string[]).includes(name)

/**
 * Calls the roll of all copies of all services. Who answered once is remembered, so that a copy that is
 * frozen is down, and not merely absent while others of its service answer.
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
  /** Ends when everybody who is known answered; who is not known yet is noted a little longer. */
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
    if (!copies.has(copy)) return // It left meanwhile.
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

/** nats-server says at once when nobody has such a subscription. */
const stateBy = (error: NatsError) =>
  error.code === ErrorCode.NoResponders ? ('gone' as const) : ('hangs' as const)

/** A copy that came after another was last heard stands for it, if that one is gone. */
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

/** Services without a copy that is up; `answered` holds those of this call. */
function silentAmong(answered: (copy: string) => boolean, copies: ReadonlyMap<string, Known>) {
  const up = new Set([...copies].flatMap(([copy, { service }]) => (answered(copy) ? service : [])))
  return others.filter((name) => !up.has(name))
}
