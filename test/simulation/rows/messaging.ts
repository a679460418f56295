import type { Announced } from '#platform/db/outbox.store'
import { schemaReader } from '#platform/schema'
import type { Topic } from '#shared/messages/topic'
import { type DeadLetterRow, type InboxRow, type Rows, rowsOf } from './rows'
import { nothing, type StandIn, tooLate } from './table'

type Inbox = typeof import('#platform/db/inbox.store')
type Outbox = typeof import('#platform/db/outbox.store')
type DeadLetters = typeof import('#platform/db/dead-letter.store')
type Messaging = typeof import('#platform/db/messaging')
type Database = Parameters<Outbox['lease']>[0]

const keyOf = (consumer: string, messageId: string) => `${consumer} ${messageId}`

function claimIn(rows: Rows, inbox: object, consumer: string, messageId: string): boolean {
  const table = rows.of<InboxRow>(inbox)
  const key = keyOf(consumer, messageId)
  const known = table.get(key)
  if (known?.done) return false
  table.set(key, { attempts: known?.attempts ?? 0, done: true })
  return true
}

export const claim: StandIn<Inbox['claim']> = async (tx, inbox, consumer, messageId) =>
  claimIn(rowsOf(tx), inbox, consumer, messageId)

export const countFailure: StandIn<Inbox['countFailure']> = (database, inbox, failure) =>
  database.run(async (db) => {
    const table = rowsOf(db).of<InboxRow>(inbox)
    const key = keyOf(failure.consumer, failure.messageId)
    const { attempts, done } = table.get(key) ?? { attempts: 0, done: false }
    return table.set(key, { attempts: attempts + 1, done }).attempts
  })

export const isDone: StandIn<Inbox['isDone']> = (database, inbox, consumer, messageId) =>
  database.read(async (db) => rowsOf(db).of<InboxRow>(inbox).get(keyOf(consumer, messageId))?.done === true)

export const claimDelivered: StandIn<Messaging['claimDelivered']> = async (
  db,
  { inbox, deadLetters },
  consumer,
  messageId,
) => {
  const rows = rowsOf(db)
  if (!claimIn(rows, inbox, consumer, messageId)) {
    rows.saw('a message was delivered again after its work was committed')
    return false
  }
  rows.of<DeadLetterRow>(deadLetters).update(keyOf(consumer, messageId), { isRedriven: true })
  return true
}

export const claimFresh: StandIn<Messaging['claimFresh']> = (tx, { inbox }, consumer, messageId) => {
  if (!claimIn(rowsOf(tx), inbox, consumer, messageId)) throw tooLate()
}

export const claimKnown: StandIn<Messaging['claimKnown']> = (database, inbox, known) =>
  database.run(async (db) => {
    for (const { consumer, messageId } of known)
      rowsOf(db).of<InboxRow>(inbox).insert(keyOf(consumer, messageId), { attempts: 0, done: true })
    return nothing
  })

/** Leases in ms, as in `shared/platform/db/outbox.store.ts`. */
const ownLeaseMs = 3_000
const leaseMs = 5_000

function announceIn(rows: Rows, outbox: object, messages: readonly Message[]): Message[] {
  const table = rows.outbox(outbox)
  const leasedUntil = rows.notes ? rows.clock() + ownLeaseMs : 0
  return messages.filter((message) => table.insert(message.id, { ...message, leasedUntil, isPublished: false }))
}
type Message = { readonly id: string; readonly subject: string; readonly payload: unknown }

function recordAll(rows: Rows, outbox: object, messages: readonly Message[]): void {
  for (const message of messages) rows.notes?.push({ outbox, message: { ...message, requestId: null } } as Announced)
}

export const announceAll: StandIn<Outbox['announceAll']> = (tx, outbox, messages) => {
  const rows = rowsOf(tx)
  recordAll(rows, outbox, announceIn(rows, outbox, messages))
}

export function announce(
  tx: Parameters<Outbox['announce']>[0],
  outbox: Parameters<Outbox['announce']>[1],
  topic: Topic,
  id: string,
  payload: unknown,
): void {
  const read = schemaReader(topic.schema)(payload)
  if ('fault' in read) throw new Error(`${topic.subject}: ${read.fault}`)
  announceAll(tx, outbox, [{ id, subject: topic.subject, payload }])
}

export type WrittenBeside = (rows: Rows) => void

export function writeSide(rows: Rows, beside: readonly unknown[]): void {
  for (const write of beside) if (write) (write as WrittenBeside)(rows)
}

export const announceWith = (
  tx: Parameters<Outbox['announceWith']>[0],
  outbox: Parameters<Outbox['announceWith']>[1],
  messages: Parameters<Outbox['announceWith']>[2],
): ReturnType<Outbox['announceWith']> => {
  if (messages.length === 0) return undefined
  const write: WrittenBeside = (rows) => void announceIn(rows, outbox, messages)
  return { statement: write as never, notify: () => recordAll(rowsOf(tx), outbox, messages) }
}

export const lease = (database: Database, outbox: object, rowsMax: number) =>
  database.run(async (db) => {
    const rows = rowsOf(db)
    const table = rows.outbox(outbox)
    const now = rows.clock()
    const left = table.by('left', 'left')
    const due = left.filter(({ leasedUntil }) => leasedUntil < now).slice(0, rowsMax)
    for (const { id } of due) table.update(id, { leasedUntil: now + leaseMs })
    return due.map(({ id, subject, payload }) => ({ id, subject, payload, requestId: null }))
  })

export const markPublished: StandIn<Outbox['markPublished']> = (database, outbox, ids) =>
  database.run(async (db) => {
    const table = rowsOf(db).outbox(outbox)
    for (const id of ids) table.update(id, { isPublished: true })
    return nothing
  })

export const storeDeadLetter: StandIn<DeadLetters['storeDeadLetter']> = async (tx, deadLetters, letter) => {
  const table = rowsOf(tx).of<DeadLetterRow>(deadLetters)
  table.set(keyOf(letter.consumer, letter.messageId), {
    ...(letter as DeadLetterRow),
    redriveRequestedAt: null,
    isRedriven: false,
  })
  return nothing
}

export const findRedrives: StandIn<DeadLetters['findRedrives']> = (database, deadLetters, consumer) =>
  database.read(async (db) =>
    rowsOf(db)
      .of<DeadLetterRow>(deadLetters)
      .where((row) => row.consumer === consumer && row.redriveRequestedAt !== null)
      .filter(({ isRedriven }) => !isRedriven)
      .map((row) => ({ ...row, requestedAt: row.redriveRequestedAt!, isLastTry: false })),
  )

export const claimRedrive: StandIn<DeadLetters['claimRedrive']> = async (tx, deadLetters, consumer, messageId) => {
  const table = rowsOf(tx).of<DeadLetterRow>(deadLetters)
  const row = table.get(keyOf(consumer, messageId))
  if (!row || row.redriveRequestedAt === null || row.isRedriven) return false
  table.update(keyOf(consumer, messageId), { isRedriven: true })
  return true
}

export const buryAgain: StandIn<DeadLetters['buryAgain']> = (database, deadLetters, failed) =>
  database.run(async (db) => {
    const table = rowsOf(db).of<DeadLetterRow>(deadLetters)
    const { consumer, messageId, reason } = failed
    return !!table.update(keyOf(consumer, messageId), { redriveRequestedAt: null, reason })
  })
