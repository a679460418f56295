import { type HandlingContext, type IncomingMessage, matchReaction } from '#shared/bus/handling'
import { nothingNew } from '#shared/bus/reaction'
import { Malformed } from '#shared/bus/verdict'
import {
  askRedrive,
  buryAgain,
  claimRedrive,
  dismiss,
  findRedrives,
  type RequestedRedrive,
} from '#shared/db/dead-letter.store'
import { claim } from '#shared/db/inbox.store'
import { within } from '#shared/deadline'
import { idle, type Loop, startLoop } from '#shared/loop'
import type { DeadLetterDecision, Reader } from '#shared/messages/dead-letters'
import type { AnswerOf, ReadRequestOf } from '#shared/messages/topic'
import { ok } from '#shared/refusals'

const everyMs = 2_000
/** An operator waits for it, and mostly there is none. */
const idleMs = 10_000
const deadlineMs = 9_500
/** So long after it was asked for, a redrive that fails is tried again. */
const tryMs = 60_000

/**
 * Handles the dead letters of a consumer that an operator asked for. It is the one loop for all that
 * the consumer reads: two with different reactions would bury what the other one knows.
 */
export const startRedriving = (context: HandlingContext): Loop =>
  startLoop({
    name: `redriving ${context.consumer}`,
    ...{ everyMs, idleMs },
    log: context.log,
    work: async () => ((await redriveOnce(context)) === 0 ? idle : undefined),
  })

/**
 * One round: how many were asked for. Copies of a service may run it at once: only one of them does the
 * work of a message.
 */
export async function redriveOnce(context: HandlingContext): Promise<number> {
  const { database, messaging, consumer } = context
  const asked = await findRedrives(database, messaging.deadLetters, consumer, tryMs)
  for (const redrive of asked) {
    await within(work(context, redrive), deadlineMs, redrive.subject).catch((error) =>
      noteFailure(context, redrive, error),
    )
  }
  return asked.length
}

/**
 * Ends what a service gave up on, as an operator decides. What is to be handled again is so within
 * seconds, by the loop; that it is asked for means the same however often it is.
 */
export const decideDeadLetter =
  (
    consumer: Reader,
    { database, messaging, log }: Omit<HandlingContext, 'reactions' | 'poke' | 'consumer'>,
  ) =>
  async (asked: ReadRequestOf<DeadLetterDecision>): Promise<AnswerOf<DeadLetterDecision>> => {
    const { decision, messageId, diedAt, reason, deed } = asked
    const death = { consumer, messageId, diedAt: new Date(diedAt) }
    const done =
      decision === 'redrive'
        ? await askRedrive(database, messaging.deadLetters, death)
        : await dismiss(database, messaging.deadLetters, { ...death, reason })
    log.info({ messageId, decision, deed, done }, 'dead letter decided')
    if (done) return ok({ done: decision === 'redrive' ? 'is handled again' : 'is dismissed' })
    return ok({ refused: 'is not open, is being handled again, or was given up on again' })
  }

/**
 * The inbox says of a dead letter that it is done, so that a redelivery changes nothing: its own row
 * is what is claimed here. The inbox comes first, as when a message is delivered, so that neither
 * waits for the other.
 */
async function work(context: HandlingContext, message: IncomingMessage): Promise<void> {
  const { database, messaging, consumer, log, poke } = context
  const { messageId, subject } = message
  const { reaction, value } = matchReaction(context, message)
  const found = await reaction.find?.(value)
  const done = await database.transaction(async (tx) => {
    await claim(tx, messaging.inbox, consumer, messageId)
    if (!(await claimRedrive(tx, messaging.deadLetters, consumer, messageId))) return false
    if (found !== nothingNew) await reaction.apply(tx, value, found)
    return true
  })
  if (!done) return
  log.info({ consumer, messageId, subject }, 'dead letter redriven')
  poke()
}

async function noteFailure(context: HandlingContext, redrive: RequestedRedrive, error: unknown) {
  const { database, messaging, consumer, log } = context
  const { messageId, subject } = redrive
  const fields = { consumer, messageId, subject, err: error }
  if (!(error instanceof Malformed) && !redrive.isLastTry)
    return log.warn(fields, 'redrive failed, will be tried again')
  const reason = error instanceof Error ? error.message : String(error)
  if (await buryAgain(database, messaging.deadLetters, { ...redrive, reason }))
    log.error({ ...fields, alarm: true }, 'redrive failed, message given up on again')
}
