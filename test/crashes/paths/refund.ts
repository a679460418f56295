import { waitUntil } from '#infra/local/wait'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { accessOf, openOperator } from '#infra/operations/cli/operator'
import { ReviewResolve } from '#shared/messages/payments'
import { topUp } from '../../support/flows'
import { timesOf } from '../../support/ledger'
import { insist } from '../../support/requests'
import { delivered, onChain, relayed, toppedUp } from '../boundaries'
import { type Path, patienceMs, paymentIn, quoteOf, rowOf, same, settledUser } from '../path'
import type { World } from '../world'

/** Begins payments that are refunded within the hold and revoked once. */
const withinHold: Path['begin'] = async (world) => {
  const person = await settledUser(world)
  return async () => {
    const quoteId = await quoteOf(person)
    return async () => {
      const { id } = await topUp(world.stack, person, { channel: 'CARDS', quoteId })
      await paymentIn(world, id, 'held')
      await world.outside.refund(id)
      await paymentIn(world, id, 'revoked')
      same('revocations', await timesOf(world.stack, 'TopUpRevoked', id), 1)
    }
  }
}

/** Begins payments that are refunded after the credit, which freezes each wallet. */
const afterwards: Path['begin'] = async (world) => async () => {
  const { sql, outside } = world
  const person = await settledUser(world)
  const { id, micro } = await topUp(world.stack, person)
  await paymentIn(world, id, 'credited')
  return async () => {
    await outside.refund(id)
    await paymentIn(world, id, 'review')
    await rowOf(
      `${person.wallet} to be frozen`,
      () => sql`
        select id from chain_relayer.operation
        where kind = 'freeze' and wallet = ${person.wallet} and state = 'settled'`,
    )
    const lost = await sql`
      select lost_micro::text as lost from payments.reversals where payment_id = ${id}`
    same('reversals', lost.length, 1)
    same('amount lost', BigInt(lost[0]!.lost), micro)
  }
}

const ordered: Path['begin'] = async (world) => {
  const { stack, sql, outside } = world
  const operator = openOperator(accessOf(stack.info))
  world.closing(operator)
  const person = await settledUser(world)
  const giveBack = (paymentId: string) => {
    const by = { by: 'sari', reason: 'ticket 7' }
    const command = { verb: 'review resolve', target: paymentId, cause: 'refund, 1', ...by }
    const asked = { paymentId, resolution: 'refund' as const, ...by }
    return perform(operator, command, (id) => askOutcome(operator, ReviewResolve, { command: id, ...asked })).catch(
      () => undefined,
    )
  }
  return async () => {
    const quoteId = await quoteOf(person)
    const body = { amount: '50000', method: 'qr', quoteId }
    const { paymentId } = await insist(person, '/topups', body)
    await outside.control(`sessions/${paymentId}/pay`, { channel_code: 'DANA', amount: 40_000 })
    await paymentIn(world, paymentId, 'review')
    return async () => {
      await waitUntil('a decision', () => giveBack(paymentId), patienceMs, 100)
      const isOver = async () => {
        await minutePasses(world, paymentId)
        const state = await sql`select state from payments.payments where id = ${paymentId}`
        return state[0]!.state === 'refunded'
      }
      await waitUntil('the refund', isOver, patienceMs, 500)
      const { refunds = [] } = await outside.book()
      const ours = refunds.filter(({ reference_id: of }) => of === `ordered-${paymentId}_1`)
      same('refunds', ours.length, 1)
      same('repeated refund requests', ours[0]!.replays, 0)
    }
  }
}

/** Moves a refund order back by a minute, the time for which an unlisted refund may exist. */
const minutePasses = ({ sql }: World, id: string) => sql`
  with asked as (
    update payments.refund_orders set requested_at = requested_at - interval '1 minute'
    where payment_id = ${id} and requested_at > now() - interval '50 seconds'
  ) update payments.payments set next_check_at = now() where id = ${id} and state = 'refunding'`

export const refundPaths: readonly Path[] = [
  {
    kind: 'refund',
    name: 'refund within the hold',
    terms: { holdSeconds: 30 }, // The hold is longer than a restart; a later refund freezes the wallet.
    boundaries: [
      ...toppedUp,
      ...delivered('payments'),
      ...relayed('payments', 'credit', onChain),
      ...relayed('payments', 'revoke'),
    ],
    begin: withinHold,
  },
  {
    kind: 'refund',
    name: 'refund after the credit',
    boundaries: [
      ...delivered('payments'),
      'payments:published:payments.review',
      ...relayed('payments', 'freeze', onChain),
    ],
    begin: afterwards,
  },
  {
    kind: 'refund',
    name: 'refund by an operator',
    boundaries: [
      'payments:refund-decided',
      'payments:refund-ordered',
      'payments:before-refund',
      'payments:refund-answered',
      'payments:refund-learned',
      ...delivered('payments'),
    ],
    begin: ordered,
  },
]
