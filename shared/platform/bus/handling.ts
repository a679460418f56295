import { openMarks } from '#platform/bus/marks'
import { type InTurn, openQueues } from '#platform/bus/queue'
import { covers, noNews, type Reaction } from '#platform/bus/reaction'
import { Malformed, type MessageVerdict, verdictOn } from '#platform/bus/verdict'
import { isTooLate } from '#platform/db/compiled-query'
import { storeDeadLetter } from '#platform/db/dead-letter.store'
import { claim, countFailure, isDone } from '#platform/db/inbox.store'
import { claimDelivered, claimFresh, claimKnown, type MessagingTables } from '#platform/db/messaging'
import type { Database } from '#platform/db/open'
import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import type { Log } from '#platform/log'
import { quickSeconds, timer } from '#platform/metrics/measures'
import { schemaReader } from '#platform/schema'

/** Deadline of a handler in ms, less than half of the consumers' ack_wait, so that it ends before a redelivery. */
const handlerDeadlineMs = 9_500

export type IncomingMessage = {
  subject: string
  messageId: string
  payload: unknown
  /** True if the broker stored the message a moment ago and delivers it for the first time, so nobody can have handled it. */
  isFresh?: boolean
}
export type HandlingContext = {
  consumer: string
  database: Database
  messaging: MessagingTables
  reactions: readonly Reaction[]
  log: Log
  /** Wakes the outbox relay after a commit. */
  poke: () => void
}

/** Handles a message. Returns `done` (ack) or when to retry; never throws. */
export async function handle(
  context: HandlingContext,
  message: IncomingMessage,
): Promise<'done' | { retryInMs: number }> {
  const startedMs = performance.now()
  const tell = (outcome: 'done' | 'retried' | 'given_up') =>
    messages.since(startedMs, { topic: topicOf(context, message), outcome })
  try {
    const worked = await within(work(context, message), handlerDeadlineMs, message.subject)
    if (worked) context.poke()
    tell('done')
    return 'done'
  } catch (error) {
    const judged = await judge(context, message, error).catch((fault) => {
      context.log.error({ err: fault, messageId: message.messageId }, 'could not record message failure')
      return { retryInMs: 5_000 }
    })
    tell(judged === 'done' ? 'given_up' : 'retried')
    return judged
  }
}

const messages = timer({
  what: 'message_duration',
  help: 'Duration of handling a stream message, by topic and outcome, in seconds.',
  labels: { topic: { atMost: 40 }, outcome: ['done', 'retried', 'given_up'] },
  buckets: quickSeconds,
})

/** Returns the topic of a message, because its subject may name a single delivery. */
export const topicOf = (
  { reactions }: Pick<HandlingContext, 'reactions'>,
  { subject }: Pick<IncomingMessage, 'subject'>,
): string => reactions.find(({ topic }) => covers(topic, subject))?.topic.subject ?? 'unknown'

/** Finds the reaction to a message. Throws `Malformed` if there is none or the payload is invalid. */
export function matchReaction(
  { reactions }: Pick<HandlingContext, 'reactions'>,
  { subject, payload }: Pick<IncomingMessage, 'subject' | 'payload'>,
) {
  const reaction = reactions.find(({ topic }) => covers(topic, subject))
  if (!reaction) throw new Malformed(`no reaction to ${subject}`)
  const read = schemaReader(reaction.topic.schema)(payload)
  if ('fault' in read) throw new Malformed(`${subject}: ${read.fault}`)
  return { reaction, value: read.value }
}

/** Does the work of a message. Returns true if it concerned this service. */
async function work(context: HandlingContext, message: IncomingMessage): Promise<boolean> {
  const { reaction, value } = matchReaction(context, message)
  if (reaction.concerns && !reaction.concerns(value)) return false
  return inTurnOf(context)(reaction.orderOf?.(value), () => react(context, message, reaction, value))
}

const turns = new WeakMap<Database, InTurn>()
function inTurnOf({ database }: HandlingContext): InTurn {
  const inTurn = turns.get(database) ?? openQueues()
  turns.set(database, inTurn)
  return inTurn
}

const known = new WeakMap<Database, ReturnType<typeof openKnown>>()
function knownOf(context: HandlingContext) {
  const marks = known.get(context.database) ?? openKnown(context)
  known.set(context.database, marks)
  return marks
}
const openKnown = ({ database, messaging, log }: HandlingContext) =>
  openMarks((deliveries: Parameters<typeof claimKnown>[2]) =>
    claimKnown(database, messaging.inbox, deliveries).catch((error) =>
      log.warn({ err: error }, 'could not claim messages without news'),
    ),
  )

async function react(
  context: HandlingContext,
  message: IncomingMessage,
  reaction: Reaction,
  value: unknown,
): Promise<boolean> {
  const { database, messaging, consumer } = context
  const { messageId, isFresh } = message
  const { find, again, applyNew } = reaction
  // This check only saves a slow `find`; the claim below decides. The broker does not know every earlier delivery: a
  // consumer that was lost and created again delivers all stored messages as new.
  const isHandled = () => isDone(database, messaging.inbox, consumer, messageId)
  if (find && !isFresh && (await isHandled())) {
    if (again) await database.transaction((tx) => again(tx, value))
    return true
  }
  const found = await find?.(value)
  if (find) failpoint(`${consumer}:found:${reaction.topic.subject}`)
  if (found === noNews) {
    // The claim of a fresh message ends no earlier failure, and without it the message is only looked up again.
    if (isFresh) knownOf(context).mark({ consumer, messageId })
    else await database.run((db) => claimDelivered(db, messaging, consumer, messageId))
    return true
  }
  const handling = database.transaction(async (tx) => {
    if (isFresh) claimFresh(tx, messaging, consumer, messageId)
    // guard: a claim commits together with its work or not at all
    const claimed = isFresh || (await claimDelivered(tx, messaging, consumer, messageId))
    if (isFresh && applyNew) applyNew(tx, value)
    // guard: only the instance with the claim does the work
    else await (claimed ? reaction.apply(tx, value, found) : again?.(tx, value))
    return claimed
  })
  const isNew = await handling.catch(async (error) => {
    // A message that the broker stored again can have been handled under the same id, and another can have led to the same.
    if (isFresh && (isTooLate(error) || (await isHandled()))) return 'known'
    throw error
  })
  if (isNew === 'known') return react(context, { ...message, isFresh: false }, reaction, value)
  if (isNew) failpoint(`${consumer}:took:${reaction.topic.subject}`)
  return true
}

async function judge(
  context: HandlingContext,
  message: IncomingMessage,
  error: unknown,
): Promise<'done' | { retryInMs: number }> {
  const { consumer, database, messaging, log } = context
  const { messageId, subject } = message
  const text = error instanceof Error ? error.message : String(error)
  const attempts = await countFailure(database, messaging.inbox, {
    consumer,
    messageId,
    error: text,
  })
  const verdict: MessageVerdict = verdictOn(error, attempts)
  if ('retryInMs' in verdict) {
    log.warn({ messageId, subject, attempts, err: error }, 'message failed, will retry')
    return verdict
  }
  const isDead = await database.transaction(async (tx) => {
    // The claim fails if the work committed after all, in which case a redrive would repeat it.
    if (!(await claim(tx, messaging.inbox, consumer, messageId))) return false
    // guard: a dead letter is kept
    await storeDeadLetter(tx, messaging.deadLetters, { consumer, ...message, reason: verdict.dead })
    return true
  })
  if (!isDead) log.warn({ messageId, subject, err: error }, 'message failed after it was handled')
  else log.alarm({ messageId, subject, reason: verdict.dead }, 'message dead-lettered')
  return 'done'
}
