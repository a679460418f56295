import { type HandlingContext, type IncomingMessage, matchReaction } from '#platform/bus/handling'
import { noNews } from '#platform/bus/reaction'
import { Malformed } from '#platform/bus/verdict'
import {
  askRedrive,
  buryAgain,
  claimRedrive,
  dismiss,
  findRedrives,
  type RequestedRedrive,
} from '#platform/db/dead-letter.store'
import { claim } from '#platform/db/inbox.store'
import { within } from '#platform/deadline'
import { idle, type Loop, startLoop } from '#platform/loop'
import type { DeadLetterDecision, LetterReader } from '#shared/messages/dead-letters'
import type { AnswerOf, ReadRequestOf } from '#shared/messages/topic'
import { ok } from '#shared/refusals'

const everyMs = 2_000
/** Idle interval in ms, short because an operator may be waiting. */
const idleMs = 10_000
const deadlineMs = 9_500
/** How long after its request a failing redrive is retried, in ms. */
const tryMs = 60_000

/**
 * Starts the loop of a consumer. There is one per consumer, because two with different reactions would dead-letter each
 * other's messages.
 */
export const startRedriving = (context: HandlingContext): Loop =>
  startLoop({
    name: `redrive ${context.consumer}`,
    everyMs,
    idleMs,
    log: context.log,
    work: async () => ((await redriveOnce(context)) === 0 ? idle : undefined),
  })

/** Works on the requested redrives and returns their number. */
export async function redriveOnce(context: HandlingContext): Promise<number> {
  const { database, messaging, consumer } = context
  const asked = await findRedrives(database, messaging.deadLetters, consumer, tryMs)
  for (const redrive of asked) {
    await within(work(context, redrive), deadlineMs, redrive.subject).catch((error) =>
      recordFailure(context, redrive, error),
    )
  }
  return asked.length
}

export const decideDeadLetter =
  (consumer: LetterReader, { database, messaging, log }: Omit<HandlingContext, 'reactions' | 'poke' | 'consumer'>) =>
  async (asked: ReadRequestOf<DeadLetterDecision>): Promise<AnswerOf<DeadLetterDecision>> => {
    const { decision, messageId, diedAt, by, reason, command } = asked
    const death = { consumer, messageId, diedAt: new Date(diedAt) }
    const done =
      decision === 'redrive'
        ? await askRedrive(database, messaging.deadLetters, death)
        : await dismiss(database, messaging.deadLetters, { ...death, reason })
    log.info({ messageId, decision, command, done, by, reason }, 'dead letter decided by operator')
    if (done) return ok({ done: decision === 'redrive' ? 'will be redriven' : 'is dismissed' })
    return ok({ refused: 'is not open: already redriven, dismissed, or dead-lettered again' })
  }

/**
 * Does the work of a dead letter and claims it. The inbox row is claimed already, but is locked first, as for a
 * delivery, to avoid a deadlock.
 */
async function work(context: HandlingContext, message: IncomingMessage): Promise<void> {
  const { database, messaging, consumer, log, poke } = context
  const { messageId, subject } = message
  const { reaction, value } = matchReaction(context, message)
  const found = await reaction.find?.(value)
  const done = await database.transaction(async (tx) => {
    await claim(tx, messaging.inbox, consumer, messageId)
    if (!(await claimRedrive(tx, messaging.deadLetters, consumer, messageId))) return false
    if (found !== noNews) await reaction.apply(tx, value, found)
    return true
  })
  if (!done) return
  log.info({ consumer, messageId, subject }, 'dead letter redriven')
  poke()
}

async function recordFailure(context: HandlingContext, redrive: RequestedRedrive, error: unknown) {
  const { database, messaging, consumer, log } = context
  const { messageId, subject } = redrive
  const fields = { consumer, messageId, subject, err: error }
  if (!(error instanceof Malformed) && !redrive.isLastTry) return log.warn(fields, 'redrive failed, will retry')
  const reason = error instanceof Error ? error.message : String(error)
  if (await buryAgain(database, messaging.deadLetters, { ...redrive, reason }))
    log.alarm(fields, 'redrive failed, message dead-lettered again')
}
