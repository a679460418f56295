import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { acceptAsCapital } from '#infra/books/outside/accept'
import { openBooksOf } from '#infra/books/reconcile'
import { askOutcome, perform } from '#infra/ops/deed.store'
import { operatorName } from '#infra/ops/operator'
import { booksDatabaseUrl, operatorPlace } from '#infra/ops/place'
import { among, changing, type Found, reading, type Verb } from '#infra/ops/verb'
import { pause } from '#shared/deadline'
import { GivebackOrder } from '#shared/messages/chain'
import { moneyText } from '#shared/money/text'

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

/** The one name of a transfer, in two. */
type Transfer = { txHash: `0x${string}`; logIndex: number }

/** The newest request for a transfer. */
export async function findGiveback(
  sql: Sql,
  { txHash, logIndex }: Transfer,
): Promise<Request | undefined> {
  const rows = await sql<Request[]>`
    select ${requestFields(sql)} from chain_relayer.giveback_request r
    left join chain_relayer.operation o on o.id = r.operation_id
    where r.tx_hash = ${txHash} and r.log_index = ${logIndex} order by r.id desc limit 1`
  return rows[0]
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
  const ausd = moneyText(one.ausdMicro, 'AUSD')
  return `${String(seconds).padStart(7)} s  ${one.wallet}  ${ausd}  ${one.name}  ${wordsOf(one)}`
}

const list = reading({
  does: 'AUSD that came to the treasury and that nothing of ours names: age, sender and sum',
  usage: 'unexplained list',
  read: async (_, { sql }): Promise<Found> => {
    const found = await listUnexplained(sql)
    const text = found.map(lineOf).join('\n') || 'nothing is unexplained'
    return { text, data: { unexplained: found }, ok: found.length === 0 }
  },
})

const waitMs = 20_000
const lookMs = 250

const isOpen = ({ state, operation }: Request) =>
  state === 'asked' || (state === 'ordered' && operation !== 'settled' && operation !== 'failed')

/** Waits a while for what becomes of a request, which chain-relayer decides. */
async function awaitGiveback(sql: Sql, transfer: Transfer): Promise<Request | undefined> {
  const endAt = Date.now() + waitMs
  let request = await findGiveback(sql, transfer)
  while (request && isOpen(request) && Date.now() < endAt) {
    await pause(lookMs)
    request = await findGiveback(sql, transfer)
  }
  return request
}

/** What was refused may be asked for again: that is another deed. */
async function requestsOf(sql: Sql, { txHash, logIndex }: Transfer): Promise<string> {
  const [row] = await sql<{ refused: number }[]>`
    select count(*)::int as refused from chain_relayer.giveback_request
    where tx_hash = ${txHash} and log_index = ${logIndex} and state = 'refused'`
  return `request ${row!.refused + 1}`
}

const nameForm = /^(0x[0-9a-f]{64}):([0-9]{1,9})$/i

const giveBack = changing({
  does: 'give one back to its sender, once, if the final chain and the rows agree',
  usage: 'unexplained return <transaction>:<log> --reason <why> [--by <your name>]',
  takes: 1,
  fits: ([name = '']) => nameForm.test(name),
  change: async ({ words: [target = ''], reason, by }, operator) => {
    const [, hash = '', log = ''] = nameForm.exec(target.toLowerCase())!
    const transfer = { txHash: hash as `0x${string}`, logIndex: Number(log) }
    const { sql } = operator
    const [capital] = await acceptance(sql, sql`${`${hash}:${log}`}`)
    if (capital) throw new Error(`${target} was accepted as capital: reverse that first`)
    const cause = await requestsOf(sql, transfer)
    const deed = { verb: 'unexplained return', target: `${hash}:${log}`, cause, reason, by }
    const performed = await perform(operator, deed, (id) =>
      askOutcome(operator, GivebackOrder, { deed: id, by, reason, ...transfer }),
    )
    const request = await awaitGiveback(sql, transfer)
    if (!request || 'refused' in performed) return [performed]
    const { id } = performed
    const words = wordsOf(request)
    return [
      request.operation === 'settled' ? { ...performed, done: words } : { id, refused: words },
    ]
  },
})

const acceptUsage = `usage: bun run ops unexplained accept <item> --reason <why> [--by <your name>]

You put it in yourself, or took it out, so it is booked as capital: a transfer with the treasury,
<transaction>:<log>, or a row of the provider's list, txn_…, as \`reconcile\` names them.`

/** What a person said of one item, and why. */
type Said = { item: string; askedBy: string; reason: string }

/** The words after `accept`; undefined: told wrongly. */
function saidIn(words: string[]): Said | undefined {
  const options = { reason: { type: 'string' }, by: { type: 'string' } } as const
  const { values, positionals } = parseArgs({
    ...{ args: words, options },
    ...{ allowPositionals: true, strict: false },
  })
  const [item, ...more] = positionals
  const { reason, by } = values
  if (!item || more.length > 0 || typeof reason !== 'string' || reason.trim() === '')
    return undefined
  return { item, askedBy: operatorName(by), reason }
}

/** Books it as capital, in the role of the job of the books; the same again changes nothing. */
const accept: Verb = {
  does: 'book one as capital: you moved it yourself',
  run: async (words, say) => {
    const said = saidIn(words)
    if (!said) {
      say(acceptUsage)
      return 2
    }
    await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
    await acceptAsCapital(books, said.item, `${said.reason} (${said.askedBy})`)
    say(`${said.item} is booked as capital`)
    return 0
  },
}

export const unexplained = among('money that nothing of ours explains: list, return, accept', {
  ...{ list, return: giveBack, accept },
})
