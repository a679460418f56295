import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { among, type CommandResult, changing, reading } from '#infra/operations/cli/command'
import { nameForm } from '#infra/operations/cli/unexplained'
import { capitalOf, returnOf } from '#infra/operations/health/unexplained'
import { TopupRefund } from '#shared/messages/payments'
import { moneyText } from '#shared/money/text'

// A credited top-up is refunded only after the wallet has transferred its AUSD to the treasury.

type CreditedTopup = {
  id: string
  kind: string
  state: string
  wallet: string
  currency: string
  paidMinor: string | null
  /** AUSD that it gave, in 10⁻⁶. */
  onchainMicro: string
  createdAt: Date
  /** Refunds that were ordered and failed. */
  failed: number
}

const findTopup = async (sql: Sql, id: string): Promise<CreditedTopup> => {
  const [payment] = await sql<CreditedTopup[]>`
    select id, kind, state, wallet, currency, paid_minor::text as "paidMinor",
      onchain_micro::text as "onchainMicro", created_at as "createdAt",
      (select count(*)::int from payments.refund_orders where payment_id = p.id and state = 'failed') as failed
    from payments.payments p where id = ${id}`
  if (!payment) throw new Error(`payment ${id} not found`)
  return payment
}

const verb = 'topups refund'
/** Writes the names of transfers into the cause of a command, which is another one after a failed refund. */
const causeOf = (names: readonly string[], failed: number) => [...[...names].sort(), `after ${failed} failed`].join(' ')

type Transfer = {
  /** `<transaction>:<log>` */
  name: string
  ausdMicro: string
  movedAt: Date
  isCapital: boolean
  /** True if its return was requested: it goes back to the wallet, or has gone back. */
  isReturned: boolean
  /** Other payment that was refunded against it; null if there is none. */
  usedFor: string | null
}

/** Returns what the wallet transferred to the treasury since the payment was opened, oldest first. */
const findTransfers = (sql: Sql, { id, wallet, createdAt }: CreditedTopup): Promise<Transfer[]> => sql<Transfer[]>`
  select m.name, m.ausd_micro::text as "ausdMicro", m.moved_at as "movedAt",
    exists (${capitalOf(sql, sql`m.name`)}) as "isCapital",
    exists (${returnOf(sql, sql`m.name`)}) as "isReturned",
    (select t.payment_id from payments.returned_transfers t
      where t.name = lower(m.name) and t.payment_id <> ${id}) as "usedFor"
  from (select *, tx_hash || ':' || log_index as name from books.chain_moves) m
  where m.kind = 'in' and lower(m.wallet) = ${wallet} and m.moved_at >= ${createdAt}
    and not exists (select from books.names n where n.key = m.key)
  order by m.moved_at`

const nextOf = ({ name, isCapital, isReturned, usedFor }: Transfer, id: string): string => {
  if (usedFor) return `used for ${usedFor}`
  if (isReturned) return 'its return was requested'
  return isCapital
    ? `accepted: topups refund ${id} ${name}`
    : `next: unexplained accept ${name} --reason "AUSD of ${id}"`
}

/** Returns the state of a top-up, and the transfers of its wallet that came back. */
export async function showTopup(sql: Sql, id: string): Promise<CommandResult> {
  const payment = await findTopup(sql, id)
  const { state, wallet, paidMinor, currency, onchainMicro } = payment
  const transfers = state === 'credited' ? await findTransfers(sql, payment) : []
  const paid = paidMinor === null ? 'unknown amount' : moneyText(paidMinor, currency)
  const lines = [
    `${id}  ${payment.kind} ${state}, ${paid} paid, ${moneyText(onchainMicro, 'AUSD')} given to ${wallet}`,
    ...transfers.map(
      (one) => `  ${one.movedAt.toISOString()}  ${moneyText(one.ausdMicro, 'AUSD')} came back  ${nextOf(one, id)}`,
    ),
  ]
  if (state === 'credited' && transfers.length === 0) {
    const readTo = await chainReadTo(sql)
    lines.push(
      `  nothing came back until ${readTo?.toISOString() ?? 'now'}: reconcile reads the blocks after that`,
      `  otherwise ask the user to transfer the AUSD from ${wallet} to the treasury`,
    )
  }
  return { text: lines.join('\n'), data: { payment, transfers }, ok: true }
}

/** Returns the time of the last block that the books have read. */
async function chainReadTo(sql: Sql): Promise<Date | null | undefined> {
  const [read] = await sql<{ to: Date | null }[]>`select read_to as to from books.checkpoints where source = 'chain'`
  return read?.to
}

const show = reading({
  does: 'show the AUSD that must come back before a credited top-up is refunded, and the transfers of its wallet',
  usage: 'topups show <payment>',
  takes: 1,
  read: ({ words: [id = ''] }, { sql }) => showTopup(sql, id),
})

const transfersMax = 10

const refund = changing({
  does: 'refund a credited top-up after its AUSD came back to the treasury in the named transfers',
  usage: 'topups refund <payment> <transaction>:<log>… --reason <why> [--by <who>]',
  takes: [2, 1 + transfersMax],
  faultIn: ([, ...names]) => {
    const wrong = names.find((name) => !nameForm.test(name))
    return wrong && `${wrong} is not a <transaction>:<log> from topups show`
  },
  change: async ({ words: [id = '', ...named], reason, by }, operator) => {
    const payment = await findTopup(operator.sql, id)
    const names = [...new Set(named.map((name) => name.toLowerCase()))]
    const came = new Map((await findTransfers(operator.sql, payment)).map((one) => [one.name.toLowerCase(), one]))
    const transfers = names.map((name) => {
      const transfer = came.get(name)
      if (!transfer)
        throw new Error(`${name} is no transfer of ${payment.wallet} to the treasury since ${id} was opened`)
      if (transfer.usedFor) throw new Error(`${name} was used for ${transfer.usedFor}`)
      if (transfer.isReturned) throw new Error(`the return of ${name} was requested: see ops trace ${name}`)
      if (!transfer.isCapital) throw new Error(`${name} may be returned: first unexplained accept ${name}`)
      return transfer
    })
    const back = transfers.reduce((sum, { ausdMicro }) => sum + BigInt(ausdMicro), 0n).toString()
    const command = { verb, target: id, cause: causeOf(names, payment.failed), reason, by }
    return [
      await perform(operator, command, (commandId) =>
        askOutcome(operator, TopupRefund, { command: commandId, by, reason, paymentId: id, transfers: names, back }),
      ),
    ]
  },
})

export const topups = among('credited top-ups: show what must come back, refund', { show, refund })
