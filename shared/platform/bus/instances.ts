import { ErrorCode, type Msg, type NatsError, RequestStrategy, type Subscription } from 'nats'
import type { Bus } from '#platform/bus/open'
import { steadyClock } from '#platform/clock'
import { within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { type ProcessName, processNames, type ServiceName, serviceNames } from '#shared/messages/topic'

// Instances share requests by a queue group, in which a frozen one stays until nats-server misses its ping. So each
// instance can also be reached outside of the group.

/** Header of a repeat to another instance, with the reply subject of the original request. */
export const questionIdHeader = 'question-id'

/** Returns the subject on which every instance of a service reports its presence. */
export const instancesSubject = (service: ProcessName): string => `copies.${service}`
/** Returns the subject that reaches a single instance. */
export const instanceSubject = (service: ProcessName, copy: string, question: string): string =>
  `copies.${service}.${copy}.${question}`

/** Returns the subject that announces an orderly shutdown, with the instance's id. */
export const leftSubject = (service: string): string => `copies-left.${service}`

/** Presence of an instance; `isWorking` refers to the given request. */
export type Presence = { readonly copy: string; readonly isWorking: boolean }

export async function findInstances(
  { nc }: Bus,
  service: ProcessName,
  { questionId = '', withinMs }: { questionId?: string; withinMs: number },
): Promise<Presence[]> {
  const asked = { strategy: RequestStrategy.Timer, maxWait: withinMs }
  const found: Presence[] = []
  try {
    for await (const reply of await nc.requestMany(instancesSubject(service), questionId, asked)) {
      const presence = reply.json<Presence>()
      found.push(presence)
      if (presence.isWorking) break
    }
  } catch {
    // There is no subscriber, or the bus is unavailable.
  }
  return found
}

/** Reports the presence of this instance. While it shuts down, it responds only for requests that it is working on. */
export const answerPresence = (
  bus: Bus,
  service: ProcessName,
  state: { isWorkingOn: (questionId: string) => boolean; isLeaving: () => boolean },
): Subscription =>
  bus.nc.subscribe(instancesSubject(service), {
    callback: (error, message) => {
      if (error) return
      const isWorking = state.isWorkingOn(message.string())
      if (state.isLeaving() && !isWorking) return
      message.respond(JSON.stringify({ copy: bus.copy, isWorking } satisfies Presence))
    },
  })

const everyMs = 3_000
/** Wait in ms for presences, long enough for every live instance on a busy machine. */
const withinMs = 300

/** Number of instances, including this one. */
export type InstanceCount = Loop & { readonly count: () => number }

/**
 * Counts the instances among which budgets and lanes are divided. The counts of instances may differ for some seconds
 * after one joins or leaves.
 */
export async function countInstances(bus: Bus, service: ProcessName, log: Log): Promise<InstanceCount> {
  let count = 1
  const look = async () => {
    const present = async () => {
      const found = await findInstances(bus, service, { withinMs })
      // Not even this instance was found, so the bus is unavailable.
      return found.length === 0 ? undefined : found.filter(({ copy }) => copy !== bus.copy).length + 1
    }
    const first = await present()
    // A bus that is going away delivers only a part of the responses, so fewer are believed only the second time.
    const copies = first !== undefined && first < count ? await present() : first
    if (copies === undefined) return
    if (count !== copies) log.info({ copies }, 'instance count changed')
    count = copies
  }
  await look()
  const loop = startLoop({ name: 'instance count', everyMs, log, work: look })
  return { ...loop, count: () => count }
}

/** Wait in ms for the console and Prometheus, whose whole scrape may take 10 s. */
const collectMs = 2_000
/** Wait in ms once every process has responded, because its instances do so at about the same time. */
const quietMs = 100

/**
 * Collects the responses of all processes, until every one has responded or for 2 s. Throws if the bus is unavailable.
 */
export async function askEverybody<Answer>(
  { nc }: Bus,
  subject: string,
  read: (reply: Msg) => { readonly from: string; readonly answer: Answer },
): Promise<Answer[]> {
  const asked = { strategy: RequestStrategy.Timer, maxWait: collectMs }
  const replies = (await nc.requestMany(subject, undefined, asked))[Symbol.asyncIterator]()
  const silent = new Set<string>(processNames)
  const answers: Answer[] = []
  for (;;) {
    const patienceMs = silent.size === 0 ? quietMs : collectMs
    const reply = await within(replies.next(), patienceMs, 'the next').catch(() => undefined)
    if (!reply || reply.done) return answers
    const { from, answer } = read(reply.value)
    silent.delete(from)
    answers.push(answer)
  }
}

/**
 * An instance that announced no shutdown and does not respond. `hangs`: it is still connected. `gone`: it is not
 * connected and not replaced; a hanging one becomes so about 15 s later.
 */
export type DownInstance = {
  readonly service: ServiceName
  readonly copy: string
  readonly state: 'hangs' | 'gone'
  readonly since: string
}

/** Result of a roll call; `silent` has the services without a responding instance. */
type Attendance = {
  readonly up: readonly string[]
  readonly silent: readonly ServiceName[]
  readonly down: readonly DownInstance[]
}

export type InstanceRoster = { readonly call: () => Promise<Attendance> }

type KnownInstance = {
  readonly service: ServiceName
  readonly firstAt: number
  lastAt: number
  downSince: number | undefined
  isGone: boolean
  isReplacement: boolean
}

const callMs = 800
/** Wait in ms for an instance that did not respond with the others. */
const aloneMs = 300
/** How long a gone instance is reported, in ms. */
const goneForMs = 3_600_000

/** Services that respond to `$SRV.PING`; the gateway serves HTTP instead. */
const others = serviceNames.filter((name) => name !== 'gateway')
const isOther = (name: string): name is ServiceName => (others as readonly string[]).includes(name)

/**
 * Opens a roster of each instance that ever responded, which reports a frozen one while others of its service respond.
 */
export function openInstanceRoster({ nc }: Bus): InstanceRoster {
  const copies = new Map<string, KnownInstance>()
  nc.subscribe(leftSubject('*'), { callback: (_, message) => copies.delete(message.string()) })

  const heard = (service: ServiceName, copy: string) => {
    const now = steadyClock()
    const known = copies.get(copy)
    const usual = { service, firstAt: now, isReplacement: false, ...known }
    copies.set(copy, { ...usual, lastAt: now, downSince: undefined, isGone: false })
  }
  /** Pings all instances and ends once all known ones have responded. */
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
  const askAlone = async (copy: string, known: KnownInstance) => {
    const asking = nc.request(`$SRV.PING.${known.service}.${copy}`, undefined, { timeout: aloneMs })
    const state = await asking.then(() => 'answers' as const, stateBy)
    if (!copies.has(copy)) return // The instance shut down during the request.
    if (state === 'answers') return heard(known.service, copy)
    known.downSince ??= steadyClock()
    known.isGone = state === 'gone'
    if (known.isGone && steadyClock() - known.downSince > goneForMs) copies.delete(copy)
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

/** Returns the state of an instance. nats-server reports at once that a subscription does not exist. */
const stateBy = (error: NatsError) => (error.code === ErrorCode.NoResponders ? ('gone' as const) : ('hangs' as const))

/** Removes gone instances if another one started after they last responded. */
function forgetReplaced(copies: Map<string, KnownInstance>): void {
  for (const [copy, gone] of copies) {
    if (!gone.isGone) continue
    const newer = [...copies.values()].find(
      ({ service, firstAt, isReplacement, downSince }) =>
        service === gone.service && firstAt > gone.lastAt && !isReplacement && downSince === undefined,
    )
    if (!newer) continue
    newer.isReplacement = true
    copies.delete(copy)
  }
}

const downAmong = (copies: ReadonlyMap<string, KnownInstance>): DownInstance[] =>
  [...copies].flatMap(([copy, { service, downSince, isGone }]) =>
    downSince === undefined
      ? []
      : {
          service,
          copy,
          state: isGone ? ('gone' as const) : ('hangs' as const),
          since: new Date(downSince).toISOString(),
        },
  )

function silentAmong(answered: (copy: string) => boolean, copies: ReadonlyMap<string, KnownInstance>) {
  const up = new Set([...copies].flatMap(([copy, { service }]) => (answered(copy) ? service : [])))
  return others.filter((name) => !up.has(name))
}
