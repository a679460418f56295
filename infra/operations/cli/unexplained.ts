import type { Sql } from 'postgres'
import { outcomeOfCommand } from '#infra/operations/audit-log/outcome'
import { type Awaited, askOutcome, type Performed, perform } from '#infra/operations/audit-log/perform'
import { performHere } from '#infra/operations/audit-log/perform-here'
import type { CommandReply } from '#infra/operations/audit-log/signed-outcome'
import { acceptAsCapital, NotAcceptable, reopenAccepted } from '#infra/operations/books/external/accept'
import { acceptedEvent } from '#infra/operations/books/external/journal.store'
import { openBooksOf } from '#infra/operations/books/reconcile'
import { ageText } from '#infra/operations/books/text'
import { among, type CommandResult, changing, reading } from '#infra/operations/cli/command'
import { ItemAccept, ItemReopen } from '#infra/operations/cli/local-commands'
import type { Operator } from '#infra/operations/cli/operator'
import { capitalOf, refundedFor, returnOf, unexplainedMoves } from '#infra/operations/health/unexplained'
import { booksDatabaseUrl, operatorPlace } from '#infra/operations/place'
import { nowOf } from '#infra/operations/predicates'
import { pause } from '#platform/deadline'
import { GivebackOrder } from '#shared/messages/chain'
import type { Worth } from '#shared/messages/operator-commands'
import { providerAccounts } from '#shared/money/pair'
import { moneyText } from '#shared/money/text'
import { nothing } from '#shared/operators/may-perform'

// AUSD in the treasury that matches no row belongs to its sender. An operator requests its return, and chain-relayer
// decides and pays once.

/** Latest request to return a transfer. All fields are null if no return was requested. */
type Request = {
  state: 'asked' | 'ordered' | 'refused' | null
  askedBy: string | null
  reason: string | null
  refusal: string | null
  operation: string | null
  operationReason: string | null
  backTxHash: string | null
}

export type Unexplained = Request & {
  /** Name as in the books and in chain-relayer: `<transaction>:<log>`. */
  name: string
  wallet: string
  ausdMicro: string
  movedAt: Date
}

const requestFields = (sql: Sql) => sql`
  r.state, r.asked_by as "askedBy", r.reason, r.refusal,
  o.state as operation, o.reason as "operationReason", o.tx_hash as "backTxHash"`

/** Returns unexplained transfers, oldest first, without returned and accepted ones. */
export const listUnexplained = (sql: Sql): Promise<Unexplained[]> => sql<Unexplained[]>`
  select m.name, m.wallet, m.ausd_micro::text as "ausdMicro", m.moved_at as "movedAt",
    ${requestFields(sql)}
  from (${unexplainedMoves(sql)}) m
  left join lateral (
    select * from chain_relayer.giveback_request q
    where q.tx_hash = lower(m.tx_hash) and q.log_index = m.log_index order by q.id desc limit 1
  ) r on true
  left join chain_relayer.operation o on o.id = r.operation_id
  order by m.moved_at`

type Transfer = { txHash: `0x${string}`; logIndex: number }

/** Returns the requests to return a transfer, in order. All but the last were refused. */
const findGivebacks = (sql: Sql, { txHash, logIndex }: Transfer) => sql<Request[]>`
  select ${requestFields(sql)} from chain_relayer.giveback_request r
  left join chain_relayer.operation o on o.id = r.operation_id
  where r.tx_hash = ${txHash} and r.log_index = ${logIndex} order by r.id`

function wordsOf(request: Request): string {
  const { state, askedBy, reason, refusal, operation, operationReason, backTxHash } = request
  if (state === null) return 'no return requested'
  const asked = `return requested by ${askedBy} (${reason})`
  if (state === 'refused') return `${asked}, refused: ${refusal}`
  if (state === 'asked') return `${asked}, not decided yet`
  if (operation === 'settled') return `${asked}, returned in ${backTxHash}`
  if (operation === 'failed') return `${asked}, return failed: ${operationReason}`
  return `${asked}, in progress${operationReason ? `, waiting: ${operationReason}` : ''}`
}

const lineOf = (one: Unexplained, now: Date): string => {
  const age = ageText(now.getTime() - one.movedAt.getTime()).padStart(7)
  return `${age}  ${one.wallet}  ${moneyText(one.ausdMicro, 'AUSD')}  ${one.name}  ${wordsOf(one)}`
}

const list = reading({
  does: 'list unexplained AUSD in the treasury: age, sender, amount',
  usage: 'unexplained list',
  read: async (_, { sql }): Promise<CommandResult> => {
    const found = await listUnexplained(sql)
    const now = await nowOf(sql)
    const text = found.map((one) => lineOf(one, now)).join('\n') || 'no unexplained transfers'
    return { text, data: { unexplained: found }, ok: found.length === 0 }
  },
})

const waitMs = 20_000
const lookMs = 250

const isOpen = ({ state, operation }: Request) =>
  state === 'asked' || (state === 'ordered' && operation !== 'settled' && operation !== 'failed')

export function outcomeOf(request: Request | undefined): CommandReply | Awaited {
  if (!request) return { awaited: 'no request recorded: run the same command again' }
  const words = wordsOf(request)
  if (isOpen(request)) return { awaited: `${words}; run the same command again for the outcome` }
  return request.operation === 'settled' ? { done: words } : { refused: words }
}

const verb = 'unexplained return'

/**
 * Returns the number of the next request. After a refusal it is one more, because that request is another command,
 * unless the refusal has not been reported yet.
 */
async function numberOf(sql: Sql, target: string, requests: readonly Request[]): Promise<number> {
  const [last] = await sql<{ number: number; isOpen: boolean }[]>`
    select substring(d.cause from '[0-9]+$')::int as number, coalesce(o.outcome, 'unknown') = 'unknown' as "isOpen"
    from ops.commands d left join lateral (${outcomeOfCommand(sql)}) o on true
    where d.verb = ${verb} and d.target = ${target}
    order by d.asked_at desc limit 1`
  if (last?.isOpen) return last.number
  return requests.filter(({ state }) => state === 'refused').length + 1
}

/** Requests the return of a transfer. Repeating the call until the outcome is known requests nothing twice. */
export async function returned(
  operator: Pick<Operator, 'sql' | 'ask' | 'signing'>,
  transfer: Transfer,
  { reason, by, endsAt = performance.now() + waitMs }: { reason: string; by: string; endsAt?: number },
): Promise<Performed> {
  const { sql } = operator
  const target = `${transfer.txHash}:${transfer.logIndex}`
  const number = await numberOf(sql, target, await findGivebacks(sql, transfer))
  const request = async () => (await findGivebacks(sql, transfer))[number - 1]
  const command = { verb, target, cause: `request ${number}`, reason, by }
  return perform(operator, command, async (id) => {
    if (!(await request())) {
      const refused = await refundFault(sql, target)
      // guard: AUSD against which a top-up was refunded is not returned
      if (refused) return { refused }
      const order = { command: id, by, reason, ...transfer }
      const outcome = await askOutcome(operator, GivebackOrder, order)
      if ('refused' in outcome) return outcome
    }
    for (;;) {
      const outcome = outcomeOf(await request())
      if (!('awaited' in outcome) || performance.now() > endsAt) return outcome
      await pause(lookMs)
    }
  })
}

/** Name of a transfer, `<transaction>:<log>`. */
export const nameForm = /^(0x[0-9a-f]{64}):([0-9]{1,9})$/i

const giveBack = changing({
  does: 'return a transfer to its sender, once',
  usage: 'unexplained return <transaction>:<log> --reason <why> [--by <who>]',
  takes: 1,
  faultIn: ([name = '']) => (nameForm.test(name) ? undefined : `${name} is not a <transaction>:<log> from the list`),
  change: async ({ words: [target = ''], reason, by }, operator) => {
    const [, hash = '', log = ''] = nameForm.exec(target.toLowerCase())!
    const transfer = { txHash: hash as `0x${string}`, logIndex: Number(log) }
    const { sql } = operator
    const [capital] = await capitalOf(sql, sql`${`${hash}:${log}`}`)
    if (capital)
      throw new Error(`${target} was accepted as capital: unexplained reopen ${target} takes that back first`)
    return [await returned(operator, transfer, { reason, by })]
  },
})

/** Returns why a transfer must stay ours: a top-up was refunded because it came. Undefined if none was. */
async function refundFault(sql: Sql, item: string): Promise<string | undefined> {
  const [refund] = await sql<{ payment: string }[]>`${refundedFor(sql, sql`${item}`)}`
  return refund && `${refund.payment} was refunded because ${item} came back: it is ours unless that refund fails`
}

/** Returns why a transfer cannot be kept: its return was requested. Undefined if it was not. */
async function returnFault(sql: Sql, item: string): Promise<string | undefined> {
  const [asked] = await sql<{ by: string }[]>`${returnOf(sql, sql`${item}`)} limit 1`
  return asked && `${asked.by} requested the return of ${item}: it cannot be kept`
}

/**
 * Returns how often an item was accepted, so that accepting it again after a reversal is a new command. Money that a service
 * holds in suspense is accepted under the item of that posting, which may be the provider's other id.
 */
async function acceptancesOf(sql: Sql, item: string): Promise<{ count: number; standing: number }> {
  const moves = await sql<{ productId: string }[]>`
    select product_id as "productId" from books.provider_moves
    where account in ${sql([...providerAccounts])} and transaction_id = ${item} and product_id is not null`
  const items = [item, ...moves.map(({ productId }) => productId)]
  const [made] = await sql<[{ count: number; standing: number }]>`
    select count(distinct posting)::int as count, count(distinct posting) filter (where not exists (
      select from books.journal reversal where reversal.reverses = j.posting))::int as standing
    from books.journal j where item = any(${items}) and event like ${`${acceptedEvent}%`}`
  return made
}

/** Counts an item: the AUSD of a transfer. The sum of a transaction of the provider is unknown. */
async function acceptedWorth(sql: Sql, item: string): Promise<Worth> {
  const [move] = await sql<{ micro: string }[]>`
    select ausd_micro::text as micro from books.chain_moves where tx_hash || ':' || log_index = ${item}`
  return { micro: move ? BigInt(move.micro) : null, to: 'capital', seen: '' }
}

type Because = { readonly reason: string; readonly by: string }
type Book = (reason: string) => Promise<void>
type Signing = Pick<Operator, 'sql' | 'signing'>

/** Accepts an item as capital. `book` is `acceptAsCapital`. */
export async function accepted(operator: Signing, item: string, because: Because, book: Book): Promise<Performed> {
  const { count, standing } = await acceptancesOf(operator.sql, item)
  const command = { verb: 'unexplained accept', target: item, cause: `acceptance ${count + (standing > 0 ? 0 : 1)}` }
  const work = async (): Promise<CommandReply> => {
    const refused = await returnFault(operator.sql, item)
    // guard: AUSD whose return was requested is not accepted
    if (refused) return { refused }
    return outcomeOfBooking(because, book, `${item} booked as capital`)
  }
  const worth = () => acceptedWorth(operator.sql, item)
  return perform(operator, { ...command, ...because }, (id) =>
    performHere(operator, ItemAccept, { command: id, ...because, item }, { work, worth }),
  )
}

/** Takes the acceptance of an item back. `book` is `reopenAccepted`. */
export async function reopened(operator: Signing, item: string, because: Because, book: Book): Promise<Performed> {
  const { count } = await acceptancesOf(operator.sql, item)
  const command = { verb: 'unexplained reopen', target: item, cause: `acceptance ${count}` }
  const work = async (): Promise<CommandReply> => {
    const refused = await refundFault(operator.sql, item)
    // guard: AUSD against which a top-up was refunded is not returned
    if (refused) return { refused }
    return outcomeOfBooking(because, book, `${item} is unexplained again`)
  }
  return perform(operator, { ...command, ...because }, (id) =>
    performHere(operator, ItemReopen, { command: id, ...because, item }, { work, worth: async () => nothing }),
  )
}

async function outcomeOfBooking({ reason, by }: Because, book: Book, done: string): Promise<CommandReply> {
  try {
    await book(`${reason} (${by})`)
    return { done }
  } catch (error) {
    if (!(error instanceof NotAcceptable)) throw error
    return { refused: error.message }
  }
}

/** Item as the books name it. */
const itemIn = ([given = '']: readonly string[]) => (nameForm.test(given) ? given.toLowerCase() : given)

const accept = changing({
  does: 'book your own transfer, <transaction>:<log> or txn_… at the provider, as capital; reopen undoes it',
  usage: 'unexplained accept <item> --reason <why> [--by <who>]',
  takes: 1,
  change: async ({ words, reason, by }, operator) => {
    const item = itemIn(words)
    await using books = await openBooksOf(operatorPlace(), booksDatabaseUrl())
    return [await accepted(operator, item, { reason, by }, (because) => acceptAsCapital(books, item, because))]
  },
})

const reopen = changing({
  does: 'take an acceptance back: the item is unexplained again, and can be returned',
  usage: 'unexplained reopen <item> --reason <why> [--by <who>]',
  takes: 1,
  change: async ({ words, reason, by }, operator) => {
    const item = itemIn(words)
    await using books = await openBooksOf(operatorPlace(), booksDatabaseUrl())
    return [await reopened(operator, item, { reason, by }, (because) => reopenAccepted(books, item, because))]
  },
})

export const unexplained = among('unexplained money: list, return, accept, reopen', {
  list,
  return: giveBack,
  accept,
  reopen,
})
