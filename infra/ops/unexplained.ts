import { userInfo } from 'node:os'
import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { formatUnits } from 'viem'
import { acceptAsCapital } from '#infra/books/outside/accept'
import { openBooksOf } from '#infra/books/reconcile'
import { booksDatabaseUrl, operatorPlace } from '#infra/ops/place'
import { operatorDatabaseUrl, withDatabase } from '#infra/ops/stack'
import type { Verb } from '#infra/ops/verb'
import type { Say } from '#shared/command'
import { pause } from '#shared/deadline'

// AUSD that reached the treasury without a row of ours, as the job of the books found it. It belongs to
// its sender: an operator asks for it to go back, and chain-relayer decides, pays once, and says so.
// Or it is what we moved ourselves, there or at the provider: then it is capital.

/** What became of a request; null: nobody asked. */
type Request = {
  state: 'asked' | 'ordered' | 'refused' | null
  askedBy: string | null
  reason: string | null
  refusal: string | null
  /** Of the operation that gives it back. */
  operation: string | null
  operationReason: string | null
  backTxHash: string | null
}

/** A transfer to the treasury that nothing of ours names. */
export type Unexplained = Request & {
  /** `<transaction>:<log>`: its one name here, in the books and at chain-relayer. */
  name: string
  wallet: string
  ausdMicro: string
  movedAt: Date
}

const requestFields = (sql: Sql) => sql`
  r.state, r.asked_by as "askedBy", r.reason, r.refusal,
  o.state as operation, o.reason as "operationReason", o.tx_hash as "backTxHash"`

/**
 * Every transfer to the treasury that nothing of ours names, oldest first: without what went back, and
 * what somebody accepted as capital.
 */
export const listUnexplained = (sql: Sql): Promise<Unexplained[]> => sql<Unexplained[]>`
  select m.tx_hash || ':' || m.log_index as name, m.wallet, m.ausd_micro::text as "ausdMicro",
    m.moved_at as "movedAt", ${requestFields(sql)}
  from books.chain_moves m
  left join lateral (
    select * from chain_relayer.giveback_request q
    where q.tx_hash = lower(m.tx_hash) and q.log_index = m.log_index order by q.id desc limit 1
  ) r on true
  left join chain_relayer.operation o on o.id = r.operation_id
  where m.kind = 'in' and not exists (select 1 from books.names n where n.key = m.key)
    and o.state is distinct from 'settled'
    and not exists (${acceptance(sql, sql`m.tx_hash || ':' || m.log_index`)})
  order by m.moved_at`

/** What the journal of the books holds as capital under this name, less what was reversed. */
const acceptance = (sql: Sql, name: ReturnType<Sql>) => sql`
  select 1 from books.journal j where j.item = ${name} and j.account = 'capital'
  having sum(j.amount) <> 0`

export type Giveback = { txHash: string; logIndex: number; askedBy: string; reason: string }

/**
 * Asks chain-relayer to give a transfer back to its sender, which it decides within seconds. False
 * when it was asked for before and was not refused: then that request counts, and nothing is written.
 */
export async function requestGiveback(sql: Sql, asked: Giveback): Promise<boolean> {
  const { txHash, logIndex, askedBy, reason } = asked
  const name = `${txHash}:${logIndex}`
  const [capital] = await acceptance(sql, sql`${name}`)
  if (capital) throw new Error(`${name} was accepted as capital: reverse that first`)
  const stored = await sql`
    insert into chain_relayer.giveback_request (tx_hash, log_index, asked_by, reason)
    values (${txHash}, ${logIndex}, ${askedBy}, ${reason})
    on conflict (tx_hash, log_index) where state <> 'refused' do nothing`
  return stored.count === 1
}

/** The newest request for a transfer. */
export async function findGiveback(
  sql: Sql,
  { txHash, logIndex }: Pick<Giveback, 'txHash' | 'logIndex'>,
): Promise<Request> {
  const rows = await sql<Request[]>`
    select ${requestFields(sql)} from chain_relayer.giveback_request r
    left join chain_relayer.operation o on o.id = r.operation_id
    where r.tx_hash = ${txHash} and r.log_index = ${logIndex} order by r.id desc limit 1`
  return rows[0]!
}

/** What became of it, in words. */
function wordsOf(request: Request): string {
  const { state, askedBy, reason, refusal, operation, operationReason, backTxHash } = request
  if (state === null) return 'nobody asked for it back'
  const asked = `asked for by ${askedBy} (${reason})`
  if (state === 'refused') return `${asked}, refused: ${refusal}`
  if (state === 'asked') return `${asked}, not decided yet`
  if (operation === 'settled') return `${asked}, given back in ${backTxHash}`
  if (operation === 'failed') return `${asked}, could not be given back: ${operationReason}`
  return `${asked}, on its way${operationReason ? `, waits: ${operationReason}` : ''}`
}

const lineOf = (one: Unexplained): string => {
  const seconds = Math.round((Date.now() - one.movedAt.getTime()) / 1_000)
  const ausd = `${formatUnits(BigInt(one.ausdMicro), 6)} AUSD`
  return `${String(seconds).padStart(7)} s  ${one.wallet}  ${ausd}  ${one.name}  ${wordsOf(one)}`
}

const usage = `usage: bun run ops unexplained list
       bun run ops unexplained return <transaction>:<log> --reason <why> [--by <your name>]
       bun run ops unexplained accept <item> --reason <why> [--by <your name>]

\`list\`: AUSD that came to the treasury and that nothing of ours names, with age, sender and sum.
\`return\`: chain-relayer gives it back to its sender, once, if the final chain and its rows agree.
\`accept\`: you put it in yourself, or took it out, so it is booked as capital: a transfer with the
treasury, <transaction>:<log>, or a row of the provider's list, txn_…, as \`reconcile\` names them.`

/** What a person said of one item, and why. */
type Said = { item: string; askedBy: string; reason: string }

/** The words after `return` or `accept`; undefined: told wrongly. */
function saidIn(words: string[]): Said | undefined {
  const options = { reason: { type: 'string' }, by: { type: 'string' } } as const
  const { values, positionals } = parseArgs({
    ...{ args: words, options },
    ...{ allowPositionals: true, strict: false },
  })
  const [item, ...more] = positionals
  const { reason, by = userInfo().username } = values
  if (!item || more.length > 0 || typeof reason !== 'string' || typeof by !== 'string')
    return undefined
  if (reason.trim() === '' || by.trim() === '') return undefined
  return { item, askedBy: by, reason }
}

function givebackFrom({ item, askedBy, reason }: Said): Giveback | undefined {
  const [, txHash, logIndex] = /^(0x[0-9a-f]{64}):([0-9]{1,9})$/i.exec(item) ?? []
  if (!txHash) return undefined
  return { txHash: txHash.toLowerCase(), logIndex: Number(logIndex), askedBy, reason }
}

const waitMs = 20_000
const lookMs = 250

/** Asks, waits a while for what becomes of it, and says it. 0: it is given back. */
async function giveBack(sql: Sql, asked: Giveback, say: Say): Promise<number> {
  if (!(await requestGiveback(sql, asked))) say('it was asked for before')
  const endAt = Date.now() + waitMs
  const isOpen = ({ state, operation }: Request) =>
    state === 'asked' || (state === 'ordered' && operation !== 'settled' && operation !== 'failed')
  let request = await findGiveback(sql, asked)
  while (isOpen(request) && Date.now() < endAt) {
    await pause(lookMs)
    request = await findGiveback(sql, asked)
  }
  say(wordsOf(request))
  return request.operation === 'settled' ? 0 : 1
}

/** Books it as capital; the same again changes nothing. */
async function accept({ item, reason, askedBy }: Said, say: Say): Promise<number> {
  await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
  await acceptAsCapital(books, item, `${reason} (${askedBy})`)
  say(`${item} is booked as capital`)
  return 0
}

/** 0: nothing needs a person; 1: something does; 2: told wrongly. */
export async function run([verb = '', ...words]: string[], say: Say): Promise<number> {
  const said = verb === 'return' || verb === 'accept' ? saidIn(words) : undefined
  if (said && verb === 'accept') return accept(said, say)
  const asked = said && givebackFrom(said)
  if (asked) return withDatabase(operatorDatabaseUrl(), (sql) => giveBack(sql, asked, say))
  if (verb !== 'list' || words.length > 0) {
    say(usage)
    return 2
  }
  const found = await withDatabase(operatorDatabaseUrl(), listUnexplained)
  say(found.length === 0 ? 'nothing is unexplained' : found.map(lineOf).join('\n'))
  return found.length === 0 ? 0 : 1
}

export const unexplained: Verb = {
  does: 'money that nothing of ours explains: list, return or accept it',
  run,
}
