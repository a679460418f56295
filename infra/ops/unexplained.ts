import type { Sql } from 'postgres'
import { acceptAsCapital } from '#infra/books/outside/accept'
import { openBooksOf } from '#infra/books/reconcile'
import {
  type Awaited,
  askOutcome,
  type Outcome,
  type Performed,
  perform,
} from '#infra/ops/deed.store'
import { type Operator, operatorName } from '#infra/ops/operator'
import { booksDatabaseUrl, operatorPlace } from '#infra/ops/place'
import {
  among,
  asksForHelp,
  changing,
  type Found,
  reading,
  readWords,
  type Verb,
} from '#infra/ops/verb'
import { pause } from '#shared/deadline'
import { GivebackOrder } from '#shared/messages/chain'
import { moneyText } from '#shared/money/text'
import { capitalOf, unexplainedMoves } from '#shared/standing/unexplained'

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
  select m.name, m.wallet, m.ausd_micro::text as "ausdMicro", m.moved_at as "movedAt",
    ${requestFields(sql)}
  from (${unexplainedMoves(sql)}) m
  left join lateral (
    select * from chain_relayer.giveback_request q
    where q.tx_hash = lower(m.tx_hash) and q.log_index = m.log_index order by q.id desc limit 1
  ) r on true
  left join chain_relayer.operation o on o.id = r.operation_id
  order by m.moved_at`

/** The one name of a transfer, in two. */
type Transfer = { txHash: `0x${string}`; logIndex: number }

/** The requests for a transfer in their order; all but the last were refused. */
export const findGivebacks = (sql: Sql, { txHash, logIndex }: Transfer) => sql<Request[]>`
  select ${requestFields(sql)} from chain_relayer.giveback_request r
  left join chain_relayer.operation o on o.id = r.operation_id
  where r.tx_hash = ${txHash} and r.log_index = ${logIndex} order by r.id`

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

/** What came of a request, which chain-relayer decides: nothing yet, while it is open. */
export function outcomeOf(request: Request | undefined): Outcome | Awaited {
  if (!request) return { awaited: 'no request is noted: ask for the same again' }
  const words = wordsOf(request)
  if (isOpen(request)) return { awaited: `${words}: the same command again learns what came of it` }
  return request.operation === 'settled' ? { done: words } : { refused: words }
}

const verb = 'unexplained return'

/**
 * Which request for a transfer this is. What was refused may be asked for again, and is another deed;
 * unless nobody was told of the refusal yet: then it is still the same.
 */
async function numberOf(sql: Sql, target: string, requests: readonly Request[]): Promise<number> {
  const [last] = await sql<{ number: number; isOpen: boolean }[]>`
    select substring(d.cause from '[0-9]+$')::int as number, not exists (
      select 1 from ops.outcomes o where o.deed_id = d.id) as "isOpen"
    from ops.deeds d where d.verb = ${verb} and d.target = ${target}
    order by d.asked_at desc limit 1`
  if (last?.isOpen) return last.number
  return requests.filter(({ state }) => state === 'refused').length + 1
}

/**
 * Asks for a transfer to go back, and waits a while for what comes of it. Only that is noted as the
 * outcome of the deed: until then nobody knows it, and the same again asks for nothing twice.
 */
export async function returned(
  operator: Pick<Operator, 'sql' | 'ask'>,
  transfer: Transfer,
  { reason, by, endsAt = Date.now() + waitMs }: { reason: string; by: string; endsAt?: number },
): Promise<Performed> {
  const { sql } = operator
  const target = `${transfer.txHash}:${transfer.logIndex}`
  const number = await numberOf(sql, target, await findGivebacks(sql, transfer))
  const request = async () => (await findGivebacks(sql, transfer))[number - 1]
  const deed = { verb, target, cause: `request ${number}`, reason, by }
  return perform(operator, deed, async (id) => {
    if (!(await request())) {
      const order = { deed: id, by, reason, ...transfer }
      const outcome = await askOutcome(operator, GivebackOrder, order)
      if ('refused' in outcome) return outcome
    }
    for (;;) {
      const outcome = outcomeOf(await request())
      if (!('awaited' in outcome) || Date.now() > endsAt) return outcome
      await pause(lookMs)
    }
  })
}

const nameForm = /^(0x[0-9a-f]{64}):([0-9]{1,9})$/i

const giveBack = changing({
  does: 'give one back to its sender, once, if the final chain and the rows agree',
  usage: 'unexplained return <transaction>:<log> --reason <why> [--by <your name>]',
  takes: 1,
  faultIn: ([name = '']) =>
    nameForm.test(name) ? undefined : `${name} is no <transaction>:<log>, as the list has it`,
  change: async ({ words: [target = ''], reason, by }, operator) => {
    const [, hash = '', log = ''] = nameForm.exec(target.toLowerCase())!
    const transfer = { txHash: hash as `0x${string}`, logIndex: Number(log) }
    const { sql } = operator
    const [capital] = await capitalOf(sql, sql`${`${hash}:${log}`}`)
    if (capital) throw new Error(`${target} was accepted as capital: reverse that first`)
    return [await returned(operator, transfer, { reason, by })]
  },
})

const acceptUsage = `usage: bun run ops unexplained accept <item> --reason <why> [--by <your name>]

You put it in yourself, or took it out, so it is booked as capital: a transfer with the treasury,
<transaction>:<log>, or a row of the provider's list, txn_…, as \`reconcile\` names them.`

/** What a person said of one item, and why. */
type Said = { item: string; askedBy: string; reason: string }

/** The words after `accept`; or what is wrong with them. */
function saidIn(words: string[]): Said | { wrong: string } {
  const word = { type: 'string' } as const
  const read = readWords(words, { reason: word, by: word })
  if ('wrong' in read) return read
  const [item, ...more] = read.words
  const reason = String(read.options.reason ?? '').trim()
  if (!item || more.length > 0) return { wrong: 'it takes one item' }
  if (reason === '') return { wrong: 'it needs --reason, and why' }
  return { item, askedBy: operatorName(read.options.by), reason }
}

/** Books it as capital, in the role of the job of the books; the same again changes nothing. */
const accept: Verb = {
  does: 'book one as capital: you moved it yourself',
  run: async (words, say) => {
    const isHelp = asksForHelp(words)
    const said = isHelp ? undefined : saidIn(words)
    if (!said || 'wrong' in said) {
      say([acceptUsage, ...(said ? [`not understood: ${said.wrong}`] : [])].join('\n'))
      return isHelp ? 0 : 2
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
