// The item of an outbox message is final if nothing will repeat the message. A message without a matching row is not
// final.

type Subject = { ended: string; reads: Readonly<Record<string, readonly string[]>> }

/** Final states of a payment. A settlement in `repaid` is final only after its hold. */
export const endedPayments = ['credited', 'revoked', 'refunded', 'accepted'] as const
/** Final states of a cash-out. Nothing is pending in them, although checks may continue for a while. */
export const endedCashouts = ['expired', 'paid', 'failed', 'returned'] as const

const listed = (states: readonly string[]) => states.map((state) => `'${state}'`).join(', ')
export const endedStates = listed(endedCashouts)

export const subjectEnded: Readonly<Record<'gateway' | 'payments' | 'payouts' | 'chain_relayer', Subject>> = {
  gateway: {
    ended: `exists (select from gateway.identities i where i.wallet = t.payload->>'wallet'
      and i.check_at is null and i.failed_at is null)`,
    reads: { 'gateway.identities': ['wallet', 'check_at', 'failed_at'] },
  },
  payments: {
    // An order names payment and ref number, an event only the payment, a freeze only the wallet.
    ended: `case when t.payload ? 'refId' or t.payload ? 'paymentId' then
      exists (select from payments.payments p
        where p.id = split_part(coalesce(t.payload->>'refId', t.payload->>'paymentId'), '.', 1)
        and (p.state in (${listed(endedPayments)})
          or p.state = 'repaid' and (p.held is not true or p.hold_ended_at is not null)))
      else exists (select from payments.wallets w where w.wallet = t.payload->>'wallet'
        and w.retry_at is null) end`,
    reads: {
      'payments.payments': ['id', 'state', 'held', 'hold_ended_at'],
      'payments.wallets': ['wallet', 'retry_at'],
    },
  },
  payouts: {
    ended: `exists (select from payouts.payouts p where p.id = t.payload->>'payoutId'
      and p.state in (${listed(endedCashouts)}) and p.next_check_at is null)`,
    reads: { 'payouts.payouts': ['id', 'state', 'next_check_at'] },
  },
  chain_relayer: {
    ended: `exists (select from chain_relayer.operation o where o.id = t.payload->>'operationId'
      and (o.state = 'settled' or o.state = 'failed' and o.watch_at is null))`,
    reads: { 'chain_relayer.operation': ['id', 'state', 'watch_at'] },
  },
}
