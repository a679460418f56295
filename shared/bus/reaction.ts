import type { Tx } from '#shared/db/open'
import type { Message, Topic } from '#shared/messages/topic'

/** What `find` answers about a message that tells nothing new: it is claimed, and nothing is written. */
export const nothingNew = Symbol('nothing new')

/**
 * What a service does about a message. `find` asks the outside world and may take long; `apply`
 * writes, in the one transaction that also claims the message, and asks nobody. `again` runs when a
 * message comes whose work is done already: somebody repeats it because its effect was lost.
 * Nothing is kept of a message that does not concern the service: several read one stream. Messages
 * of the same `orderOf` are worked on one after the other by a process, which saves them the wait for
 * each other's locks; between processes it is the locks that count.
 */
export type Reaction = {
  readonly topic: Topic
  readonly concerns?: (message: unknown) => boolean
  readonly orderOf?: (message: unknown) => string | undefined
  readonly find?: (message: unknown) => Promise<unknown>
  readonly apply: (tx: Tx, message: unknown, found: unknown) => Promise<void>
  readonly again?: (tx: Tx, message: unknown) => Promise<void>
}

export const reactTo = <T extends Topic, F = undefined>(
  topic: T,
  steps: {
    concerns?: (message: Message<T>) => boolean
    orderOf?: (message: Message<T>) => string | undefined
    find?: (message: Message<T>) => Promise<F | typeof nothingNew>
    apply: (tx: Tx, message: Message<T>, found: F) => Promise<void>
    again?: (tx: Tx, message: Message<T>) => Promise<void>
  },
): Reaction => ({
  topic,
  ...(steps.concerns && { concerns: (message) => steps.concerns!(message as Message<T>) }),
  ...(steps.orderOf && { orderOf: (message) => steps.orderOf!(message as Message<T>) }),
  ...(steps.find && { find: (message) => steps.find!(message as Message<T>) }),
  apply: (tx, message, found) => steps.apply(tx, message as Message<T>, found as F),
  ...(steps.again && { again: (tx, message) => steps.again!(tx, message as Message<T>) }),
})

/** `webhooks.payments.>` covers everything below it; all other subjects are exact. */
export const covers = (topic: Topic, subject: string): boolean =>
  topic.subject.endsWith('.>')
    ? subject.startsWith(topic.subject.slice(0, -1))
    : topic.subject === subject
