import { covers, type Reaction } from '#shared/bus/reaction'
import { Malformed, type Verdict, verdictOn } from '#shared/bus/verdict'
import { bury, markRedriven } from '#shared/db/dead-letter.store'
import { claim, countFailure, isDone } from '#shared/db/inbox.store'
import type { Mailroom } from '#shared/db/mailroom'
import type { Database } from '#shared/db/open'
import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { readerOf } from '#shared/schema'

/** Less than half of the consumers' ack_wait, so that a stuck handler ends before a redelivery. */
const handlerDeadlineMs = 9_500

export type Letter = { subject: string; messageId: string; payload: unknown }
export type Desk = {
  consumer: string
  database: Database
  mailroom: Mailroom
  reactions: readonly Reaction[]
  log: Log
  /** Called after a commit, for the outbox. */
  poke: () => void
}

/** Handles one message to its end: done (ack), or to be tried again later. Never throws. */
export async function handle(desk: Desk, letter: Letter): Promise<'done' | { retryInMs: number }> {
  try {
    await within(work(desk, letter), handlerDeadlineMs, letter.subject)
    desk.poke()
    return 'done'
  } catch (error) {
    return judge(desk, letter, error).catch((fault) => {
      desk.log.error({ err: fault, messageId: letter.messageId }, 'failure could not be recorded')
      return { retryInMs: 5_000 }
    })
  }
}

async function work(desk: Desk, letter: Letter): Promise<void> {
  const { database, mailroom, consumer } = desk
  const reaction = desk.reactions.find(({ topic }) => covers(topic, letter.subject))
  if (!reaction) throw new Malformed(`no reaction to ${letter.subject}`)
  const read = readerOf(reaction.topic.schema)(letter.payload)
  if ('fault' in read) throw new Malformed(`${letter.subject}: ${read.fault}`)
  if (await isDone(database, mailroom.inbox, consumer, letter.messageId)) {
    const { again } = reaction
    if (again) await database.transaction((tx) => again(tx, read.value))
    return
  }
  const found = await reaction.find(read.value)
  await database.transaction(async (tx) => {
    if (!(await claim(tx, mailroom.inbox, consumer, letter.messageId))) return
    await reaction.apply(tx, read.value, found)
    await markRedriven(tx, mailroom.deadLetters, consumer, letter.messageId)
  })
}

async function judge(
  desk: Desk,
  letter: Letter,
  error: unknown,
): Promise<'done' | { retryInMs: number }> {
  const { consumer, database, mailroom, log } = desk
  const { messageId, subject } = letter
  const text = error instanceof Error ? error.message : String(error)
  const attempts = await countFailure(database, mailroom.inbox, {
    consumer,
    messageId,
    error: text,
  })
  const verdict: Verdict = verdictOn(error, attempts)
  if ('retryInMs' in verdict) {
    log.warn({ messageId, subject, attempts, err: error }, 'message failed, will be tried again')
    return verdict
  }
  await database.transaction(async (tx) => {
    await bury(tx, mailroom.deadLetters, { consumer, ...letter, reason: verdict.dead })
    await claim(tx, mailroom.inbox, consumer, messageId)
  })
  log.error({ messageId, subject, reason: verdict.dead, alarm: true }, 'message given up on')
  return 'done'
}
