import type { Tx } from '#platform/db/open'
import type { Message, Topic } from '#shared/messages/topic'

/** Returned by `find` if a message says nothing that is not known. It is claimed, and nothing is applied. */
export const noNews = Symbol('no news')

/**
 * Reaction to a topic. `find` queries external systems and may be slow. `apply` writes in the transaction that claims
 * the message, and makes no network calls. `again` runs for work already done: the sender repeats the message because
 * the effect was lost. Messages with the same `orderOf` are handled in order within a process, which saves lock waits.
 * `applyNew` takes the place of `apply` for a message that nobody has handled, and sends its writes ahead. If one of them fails
 * (`isTooLate`) because the same is stored already, the message is handled by `apply`.
 */
export type Reaction = {
  readonly topic: Topic
  readonly concerns?: (message: unknown) => boolean
  readonly orderOf?: (message: unknown) => string | undefined
  readonly find?: (message: unknown) => Promise<unknown>
  readonly apply: (tx: Tx, message: unknown, found: unknown) => Promise<void>
  readonly applyNew?: (tx: Tx, message: unknown) => void
  readonly again?: (tx: Tx, message: unknown) => Promise<void>
}

export const reactTo = <T extends Topic, F = undefined>(
  topic: T,
  steps: {
    concerns?: (message: Message<T>) => boolean
    orderOf?: (message: Message<T>) => string | undefined
    find?: (message: Message<T>) => Promise<F | typeof noNews>
    apply: (tx: Tx, message: Message<T>, found: F) => Promise<void>
    applyNew?: (tx: Tx, message: Message<T>) => void
    again?: (tx: Tx, message: Message<T>) => Promise<void>
  },
): Reaction => ({
  topic,
  ...(steps.concerns && { concerns: (message) => steps.concerns!(message as Message<T>) }),
  ...(steps.orderOf && { orderOf: (message) => steps.orderOf!(message as Message<T>) }),
  ...(steps.find && { find: (message) => steps.find!(message as Message<T>) }),
  apply: (tx, message, found) => steps.apply(tx, message as Message<T>, found as F),
  ...(steps.applyNew && { applyNew: (tx, message) => steps.applyNew!(tx, message as Message<T>) }),
  ...(steps.again && { again: (tx, message) => steps.again!(tx, message as Message<T>) }),
})

/** Returns true if the topic covers the subject: `webhooks.payments.>` covers its subtree; all others match exactly. */
export const covers = (topic: Topic, subject: string): boolean =>
  topic.subject.endsWith('.>') ? subject.startsWith(topic.subject.slice(0, -1)) : topic.subject === subject
