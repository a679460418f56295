import { RequestStrategy, type Subscription } from 'nats'
import type { Bus } from '#shared/bus/open'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'
import type { ProcessName } from '#shared/messages/topic'

// The instances of a service share its requests by a queue group, and nats-server picks the
// receiver. A frozen instance stays in the group until the server misses its ping. So each instance
// can also be reached outside the group: all of them to report presence, and one of them by its
// name.

/**
 * Header with the id of the original request, on a repeat to another instance. The id is the reply
 * subject of the original, and a repeat has one of its own.
 */
export const questionIdHeader = 'question-id'

/** Subject on which every instance of a service reports its presence. */
export const copiesSubject = (service: ProcessName): string => `copies.${service}`
/** Subject that reaches a single instance. `*` for any instance, or any question. */
export const copySubject = (service: ProcessName, copy: string, question: string): string =>
  `copies.${service}.${copy}.${question}`

/** Subject on which an instance announces an orderly shutdown, with its id. `*` for any service. */
export const leftSubject = (service: string): string => `copies-left.${service}`

/** Presence report of an instance: its name, and whether it is working on the given request. */
export type Presence = { readonly copy: string; readonly isWorking: boolean }

/**
 * Returns the instances of a service that respond within `withinMs`. Ends early once one reports
 * that it is working on the request.
 */
export async function findCopies(
  { nc }: Bus,
  service: ProcessName,
  { questionId = '', withinMs }: { questionId?: string; withinMs: number },
): Promise<Presence[]> {
  const asked = { strategy: RequestStrategy.Timer, maxWait: withinMs }
  const found: Presence[] = []
  try {
    for await (const reply of await nc.requestMany(copiesSubject(service), questionId, asked)) {
      const presence = reply.json<Presence>()
      found.push(presence)
      if (presence.isWorking) break
    }
  } catch {
    // No subscriber, or the bus is unavailable: no instance found.
  }
  return found
}

/**
 * Responds to presence polls. An instance that `isLeaving` responds only for requests it is working
 * on.
 */
export const answerPresence = (
  bus: Bus,
  service: ProcessName,
  state: { isWorkingOn: (questionId: string) => boolean; isLeaving: () => boolean },
): Subscription =>
  bus.nc.subscribe(copiesSubject(service), {
    callback: (error, message) => {
      if (error) return
      const isWorking = state.isWorkingOn(message.string())
      if (state.isLeaving() && !isWorking) return
      message.respond(JSON.stringify({ copy: bus.copy, isWorking } satisfies Presence))
    },
  })

const everyMs = 3_000
/** Every live instance responds within this, even on a busy machine. */
const withinMs = 300

/** Number of instances of the service, including this one, polled every 3 s. */
export type Copies = Loop & { readonly count: () => number }

/**
 * Counts the instances of a service, to divide shared budgets and lanes. Each instance counts on
 * its own, so counts may differ for some seconds after one joins or leaves.
 */
export async function countCopies(bus: Bus, service: ProcessName, log: Log): Promise<Copies> {
  let count = 1
  const look = async () => {
    const others = (await findCopies(bus, service, { withinMs })).filter(
      ({ copy }) => copy !== bus.copy,
    )
    if (count !== others.length + 1)
      log.info({ copies: others.length + 1 }, 'instance count changed')
    count = others.length + 1
  }
  await look()
  const loop = startLoop({ name: 'instance count', everyMs, log, work: look })
  return { ...loop, count: () => count }
}
