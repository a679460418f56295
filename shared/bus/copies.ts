import { RequestStrategy, type Subscription } from 'nats'
import type { Bus } from '#shared/bus/open'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'
import type { ServiceName } from '#shared/messages/topic'

// The copies of a service share its questions by a queue group, and nats-server picks who gets one. A
// copy that is frozen still belongs to the group for as long as the server awaits its ping, so each
// copy can also be asked beside the group: all of them who is there, and one of them by its name.

/**
 * The id of a question is where its answer is awaited. Under this header it carries that id where it
 * is asked again, by a request of its own.
 */
export const questionIdHeader = 'question-id'

/** Where every copy of a service hears who is looked for. */
export const copiesSubject = (service: ServiceName): string => `copies.${service}`
/** Where one copy alone hears a question. `*` for any copy, or any question. */
export const copySubject = (service: ServiceName, copy: string, question: string): string =>
  `copies.${service}.${copy}.${question}`

/** Where a copy of the service says, as it leaves in order, which one it was. `*` for any service. */
export const leftSubject = (service: string): string => `copies-left.${service}`

/** What a copy says of itself: its name, and whether it works on the question that was named. */
export type Presence = { readonly copy: string; readonly isWorking: boolean }

/**
 * The copies of a service that answer within `withinMs`. Ends early once one says that it works on
 * the question.
 */
export async function findCopies(
  { nc }: Bus,
  service: ServiceName,
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
    // Nobody listens, or the bus is away: nobody was found.
  }
  return found
}

/** Answers who looks for a copy of this service. One that `isLeaving` is found by its own work alone. */
export const answerPresence = (
  bus: Bus,
  service: ServiceName,
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
/** All that live answer within this, also on a busy machine. */
const withinMs = 300

/** How many copies of the service there are, this one included; looked for every 3 s. */
export type Copies = Loop & { readonly count: () => number }

/**
 * Counts the copies of a service, for what they divide between them: budgets of calls, lanes. Each
 * copy counts by itself, so for some seconds after one came or went they may count differently.
 */
export async function countCopies(bus: Bus, service: ServiceName, log: Log): Promise<Copies> {
  let count = 1
  const look = async () => {
    const others = (await findCopies(bus, service, { withinMs })).filter(
      ({ copy }) => copy !== bus.copy,
    )
    if (count !== others.length + 1) log.info({ copies: others.length + 1 }, 'copies counted')
    count = others.length + 1
  }
  await look()
  const loop = startLoop({ name: 'counting copies', everyMs, log, work: look })
  return { ...loop, count: () => count }
}
