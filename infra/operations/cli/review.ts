import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { among, type CommandResult, changing, reading } from '#infra/operations/cli/command'
import { counted } from '#infra/operations/text'
import { DisputeCharge, RefundGiveUp, ReviewResolve } from '#shared/messages/payments'
import { moneyText } from '#shared/money/text'

// services/payments/review defines and checks the decisions.

const resolutions = ['credit', 'refund', 'accept'] as const
type Resolution = (typeof resolutions)[number]

/** Payment in state `review` or `refunding`. */
export type WaitingReview = {
  id: string
  kind: string
  state: string
  reason: string | null
  wallet: string
  currency: string
  fiatMinor: string
  paidMinor: string | null
  refundedMinor: string
  overpaidMinor: string
  overpaidRefundedMinor: string
  ausdMicro: string
  onchainMicro: string
  channel: string | null
  creditedAt: Date | null
  providerPaymentId: string | null
  since: Date
}

const fields = (sql: Sql) => sql`
  id, kind, state, reason, wallet, currency, fiat_minor::text as "fiatMinor",
  paid_minor::text as "paidMinor", refunded_minor::text as "refundedMinor",
  overpaid_minor::text as "overpaidMinor",
  overpaid_refunded_minor::text as "overpaidRefundedMinor", ausd_micro::text as "ausdMicro",
  onchain_micro::text as "onchainMicro", channel, credited_at as "creditedAt",
  provider_payment_id as "providerPaymentId", updated_at as since`

/** Returns the payments that wait for a decision, longest waiting first. */
const listReview = (sql: Sql): Promise<WaitingReview[]> => sql<WaitingReview[]>`
  select ${fields(sql)} from payments.payments
  where state in ('review', 'refunding') order by updated_at`

type Decision = {
  resolution: Resolution
  decidedBy: string
  reason: string
  decidedAt: Date
}
type RefundOrder = {
  reference: string
  minor: string
  state: string
  requests: number
  refundId: string | null
  failureCode: string | null
}
type Second = { providerPaymentId: string; currency: string | null; minor: string | null }

export type Reviewed = WaitingReview & {
  decisions: Decision[]
  orders: RefundOrder[]
  seconds: Second[]
}

async function findReviewed(sql: Sql, id: string): Promise<Reviewed | undefined> {
  const [payment] = await sql<WaitingReview[]>`
    select ${fields(sql)} from payments.payments where id = ${id}`
  if (!payment) return undefined
  const decisions = await sql<Decision[]>`
    select resolution, decided_by as "decidedBy", reason, decided_at as "decidedAt"
    from payments.resolutions where payment_id = ${id} order by decided_at`
  const orders = await sql<RefundOrder[]>`
    select reference, minor::text, state, requests, refund_id as "refundId",
      failure_code as "failureCode"
    from payments.refund_orders where payment_id = ${id} order by created_at, reference`
  const seconds = await sql<Second[]>`
    select object as "providerPaymentId", currency, amount_minor::text as minor
    from payments.anomalies where payment_id = ${id} and kind = 'paid_twice' order by noticed_at`
  return { ...payment, decisions, orders, seconds }
}

const lineOf = ({ id, kind, state, reason, wallet, since, ...paid }: WaitingReview): string => {
  const { currency, fiatMinor, paidMinor } = paid
  const came = paidMinor === null ? 'unknown amount' : moneyText(paidMinor, currency)
  const asked = `${moneyText(fiatMinor, currency)} due, ${came} paid`
  return `${since.toISOString()}  ${id}  ${kind} ${state}, ${reason}  ${asked}  ${wallet}`
}

export function textOf(payment: Reviewed): string {
  const { ausdMicro, onchainMicro, creditedAt, channel, decisions, orders, seconds } = payment
  const wentBack = moneyText(payment.refundedMinor, payment.currency)
  const onChain = creditedAt
    ? `${moneyText(onchainMicro, 'AUSD')} on chain since ${creditedAt.toISOString()}`
    : 'nothing on chain yet'
  return [
    lineOf(payment),
    `  worth ${moneyText(ausdMicro, 'AUSD')}; ${onChain}`,
    `  paid by ${channel ?? 'unknown channel'} as ${payment.providerPaymentId}, ${wentBack} refunded`,
    ...seconds.map(
      ({ providerPaymentId, minor, currency }) =>
        `  ${providerPaymentId === payment.providerPaymentId ? 'rest of' : 'second payment'} ${providerPaymentId}: ${
          minor === null || currency === null ? 'unknown amount' : moneyText(minor, currency)
        }`,
    ),
    ...decisions.map(
      ({ resolution, decidedBy, decidedAt, reason }) =>
        `  ${decidedAt.toISOString()}  ${resolution}, by ${decidedBy}: ${reason}`,
    ),
    ...orders.map(
      ({ reference, minor, state, requests, refundId, failureCode }) =>
        `  refund ${reference} of ${moneyText(minor, payment.currency)}: ${state}, requested ${counted(requests, 'time')}${
          refundId ? `, ${refundId}` : ''
        }${failureCode ? `, ${failureCode}` : ''}`,
    ),
  ].join('\n')
}

const list = reading({
  does: 'list payments that need review, longest waiting first',
  usage: 'review list',
  read: async (_, { sql }): Promise<CommandResult> => {
    const waiting = await listReview(sql)
    const text = waiting.map(lineOf).join('\n') || 'no payments need review'
    return { text, data: { waiting }, ok: waiting.every(({ state }) => state !== 'review') }
  },
})

const show = reading({
  does: 'show a payment and its decisions',
  usage: 'review show <payment>',
  takes: 1,
  read: async ({ words: [id = ''] }, { sql }): Promise<CommandResult> => {
    const payment = await findReviewed(sql, id)
    if (!payment) return { text: `payment ${id} not found`, data: {}, ok: false }
    return { text: textOf(payment), data: { payment }, ok: payment.state !== 'review' }
  },
})

const resolve = changing({
  does: 'decide: credit the amount paid, refund it, or accept it as it is',
  usage: 'review resolve <payment> credit|refund|accept --reason <why> [--by <who>]',
  takes: 2,
  faultIn: ([, word]) => (resolutions.some((one) => one === word) ? undefined : `unknown decision: ${word}`),
  change: async ({ words: [id = '', word], reason, by }, operator) => {
    const resolution = word as Resolution
    const payment = await findReviewed(operator.sql, id)
    if (!payment) throw new Error(`payment ${id} not found`)
    // Repeating a decision on the same review is the same command, even after the decision was carried out.
    const times = payment.decisions.length
    const waits = payment.state === 'review' || times === 0
    const cause = `${resolution}, decision ${waits ? times + 1 : times}`
    const command = { verb: 'review resolve', target: id, cause, reason, by }
    return [
      await perform(operator, command, (commandId) =>
        askOutcome(operator, ReviewResolve, {
          command: commandId,
          by,
          reason,
          paymentId: id,
          resolution,
        }),
      ),
    ]
  },
})

const charge = changing({
  does: 'name the charge that a dispute is about, if its payment has several',
  usage: 'review charge <dispute> <charge> --reason <why> [--by <who>]',
  takes: 2,
  change: async ({ words: [disputeId = '', of = ''], reason, by }, operator) => {
    const command = { verb: 'review charge', target: disputeId, cause: `it is about ${of}`, reason, by }
    return [
      await perform(operator, command, (id) =>
        askOutcome(operator, DisputeCharge, { command: id, by, reason, disputeId, charge: of }),
      ),
    ]
  },
})

const giveUp = changing({
  does: 'end a requested refund that the provider did not make: its payment needs a decision again',
  usage: 'review give-up <payment> <reference> --reason <why> [--by <who>]',
  takes: 2,
  change: async ({ words: [paymentId = '', reference = ''], reason, by }, operator) => {
    const command = { verb: 'review give-up', target: paymentId, cause: `refund ${reference}`, reason, by }
    return [
      await perform(operator, command, (id) =>
        askOutcome(operator, RefundGiveUp, { command: id, by, reason, paymentId, reference }),
      ),
    ]
  },
})

export const review = among('payments that need review: list, show, resolve, charge, give-up', {
  list,
  show,
  resolve,
  charge,
  'give-up': giveUp,
})
