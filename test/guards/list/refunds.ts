import type { Guard } from '../guard'
import { always, dropped, instead, never, without } from '../operators'

const at = (path: string) => `services/payments/${path}`

export const refundGuards: readonly Guard[] = [
  {
    guard: 'a refund of the request counts unless it belongs to another payment',
    kind: 'evidence',
    by: never,
    test: {
      file: at('providers/look-up.test.ts'),
      name: 'counts for its payment if no charge of the request is known',
    },
  },
  {
    guard: 'a hold does not end before the provider was asked',
    kind: 'evidence',
    by: always,
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'does not end while the provider cannot be checked',
    },
  },
  {
    guard: 'a hold is extended while the provider does not respond',
    kind: 'evidence',
    by: dropped,
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is extended when the provider does not respond shortly before the end',
    },
  },
  {
    guard: 'a hold does not end while its money is known to be going back',
    kind: 'decision',
    by: instead("'hold' : 'extend'", "'hold' : 'hold'"),
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is extended half an extension before its end if a refund is known then',
    },
  },
  {
    guard: 'a hold that is known to be in doubt is extended as soon as that is possible',
    kind: 'decision',
    by: dropped,
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is extended half an extension before its end if a refund is known then',
    },
  },
  {
    guard: 'a hold is checked as soon as a report puts its money in doubt',
    kind: 'decision',
    by: instead(' || change', ''),
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is extended half an extension before its end if a refund is known then',
    },
  },
  {
    guard: 'a response counts only for the hold end it was requested for',
    kind: 'evidence',
    by: without('refundsCheckedAt'),
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'needs another response before its new end if it was extended after one',
    },
  },
  {
    guard: 'a 404 for refunds is inconclusive until the list was read',
    kind: 'evidence',
    by: instead('await readFreshList(context, payment)', '[]'),
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'does not end after a 404 for refunds unless the list of transactions was read',
    },
  },
  {
    guard: 'a refund that succeeded comes back only by a final status',
    kind: 'guarded update',
    by: instead('isStale', 'sql`false`'),
    test: {
      file: at('losses/refund.store.test.ts'),
      name: 'follows the provider in both directions, but a stale "pending" undoes nothing',
    },
  },
  {
    guard: 'what was given back of a repaid loss is missing again if the loss comes about',
    kind: 'guarded update',
    by: instead('lostMicro', 'madeGoodMicro'),
    test: {
      file: at('losses/given-back.test.ts'),
      name: 'security: a dispute that is lost again freezes the wallet if its repayment was given back',
    },
  },
  {
    guard: 'a hold does not end while a refund or dispute is open',
    kind: 'decision',
    by: never,
    test: {
      file: at('losses/going-back.test.ts'),
      name: 'until a pending refund has failed, and the wallet is free again',
    },
  },
  {
    guard: 'a wallet is frozen while money that the chain cannot take back may be going back',
    kind: 'decision',
    by: instead("'freeze'", "'free'"),
    test: {
      file: at('losses/doubt.test.ts'),
      name: 'freezes its wallet as soon as its refund is known, and its order settles frozen',
    },
  },
  {
    guard: 'a hold is watched also before the relayer has reported the order that began it',
    kind: 'decision',
    by: never,
    test: {
      file: at('losses/doubt.test.ts'),
      name: 'is extended before the hold ends if a refund is known',
    },
  },
  {
    guard: 'another instance takes over from one that was killed while it checked a hold, before the hold ends',
    kind: 'lock',
    by: instead("kind === 'others' ? checkLeaseMs : Math.min(checkLeaseMs, holdMarginMs / 2)", 'checkLeaseMs'),
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is checked again before its end if the instance that checked it was killed',
    },
  },
  {
    guard: 'an amount in another currency counts as all that is left',
    kind: 'decision',
    by: always,
    test: {
      file: at('losses/going-back.test.ts'),
      name: 'as a whole when %s',
      row: 'it is disputed in ringgit',
    },
  },
  {
    guard: 'a hold lasts until its revocation is final',
    kind: 'decision',
    by: never,
    test: {
      file: at('losses/going-back.test.ts'),
      name: 'extends the hold before it ends, until it is final',
    },
  },
  {
    guard: 'a reversible payment covers no loss',
    kind: 'decision',
    by: without('held'),
    test: {
      file: at('losses/reversal.test.ts'),
      name: 'recovers nothing by a reversible channel',
    },
  },
  {
    guard: 'what an operator froze is freed by an operator alone',
    kind: 'decision',
    by: without('frozenByOperator'),
    test: {
      file: at('losses/reversal.test.ts'),
      name: 'stays frozen when its loss is repaid or cleared, until the operator ends it',
    },
  },
  {
    guard: 'a loss is cleared by an operator under the lock of the wallet',
    kind: 'lock',
    by: dropped,
    test: {
      file: at('losses/reversal.test.ts'),
      name: 'is unfrozen once by two concurrent operators, and a further request is answered',
    },
  },
  {
    guard: 'a payment in review is decided once',
    kind: 'guarded update',
    by: [never, dropped, never],
    also: ['there is no second row for payments.refund_orders_once'],
    test: {
      file: at('review/review.test.ts'),
      name: 'is ordered once by concurrent operators and by a repeated command',
    },
  },
  {
    guard: 'a payment on the chain is neither credited again nor refunded',
    kind: 'evidence',
    by: never,
    test: {
      file: at('review/review.test.ts'),
      name: 'is refused while the chain has the effect of the payment',
    },
  },
  {
    guard: 'a refund is looked up before it is requested again',
    kind: 'look-up',
    by: [dropped, never],
    test: {
      file: at('review/review.test.ts'),
      name: 'that was made and %s is found, and not requested again',
      row: 'answered badly',
    },
  },
  {
    guard: 'a refund without a response is not requested again before it would be listed',
    kind: 'look-up',
    by: dropped,
    test: {
      file: at('review/review.test.ts'),
      name: 'with an unknown result is not requested again while the provider cannot be read',
    },
  },
  {
    guard: 'a refund keeps one idempotency key',
    kind: 'key',
    by: instead('idempotencyKey', 'idempotencyKey: crypto.randomUUID()'),
    test: {
      file: at('review/review.test.ts'),
      name: 'is made once, and ends by its webhook',
    },
  },
  {
    guard: 'one instance counts a refund request before it is sent',
    kind: 'guarded update',
    by: dropped,
    test: {
      file: at('review/resolution.store.test.ts'),
      name: 'is requested by one of two instances that count it concurrently',
    },
  },
  {
    guard: 'an ended refund keeps its outcome',
    kind: 'guarded update',
    by: without('inArray'),
    test: {
      file: at('review/resolution.store.test.ts'),
      name: 'that has ended is not requested again, and keeps its result unless the money comes back',
    },
  },
]
