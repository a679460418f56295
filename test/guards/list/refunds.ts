import { edit, type Guard, withoutIndex } from '../guard'

const at = (path: string) => `services/payments/${path}`

export const refundGuards: readonly Guard[] = [
  {
    guard: 'a hold does not end before the provider was asked',
    kind: 'evidence',
    edits: [
      edit(
        at('onchain/hold.ts'),
        'if (clear) await mature(context, payment)\n    else await keepFrozen(context, payment)',
        'await mature(context, payment)',
      ),
    ],
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'does not end while the provider cannot be checked',
    },
  },
  {
    guard: 'a hold is extended while the provider does not respond',
    kind: 'evidence',
    edits: [
      edit(
        at('onchain/hold.ts'),
        '  if (!clear) {\n    await extend(context, payment, until!)',
        '  if (!clear) {',
      ),
    ],
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is extended when the provider does not respond shortly before the end',
    },
  },
  {
    guard: 'a response counts only for the hold end it was requested for',
    kind: 'evidence',
    edits: [
      edit(
        at('onchain/hold.ts'),
        'await notePayment(tx, id, { refundsCheckedAt: null, extendedAt })',
        'await notePayment(tx, id, { extendedAt })',
      ),
    ],
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'needs another response before its new end if it was extended after one',
    },
  },
  {
    guard: 'a 404 for refunds is inconclusive until the list was read',
    kind: 'evidence',
    edits: [
      edit(
        at('onchain/hold.ts'),
        'const rows = await readFreshList(context, payment)',
        'const rows: never[] = []',
      ),
    ],
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'does not end after a 404 for refunds unless the list of transactions was read',
    },
  },
  {
    guard: 'a refund that succeeded comes back only by a final status',
    kind: 'guarded update',
    edits: [
      edit(
        at('losses/refund.store.ts'),
        `case when \${isStale} then 'succeeded' else excluded.status end`,
        'excluded.status',
      ),
    ],
    test: {
      file: at('losses/refund.store.test.ts'),
      name: 'follows the provider in both directions, but a stale "pending" undoes nothing',
    },
  },
  {
    guard: 'what was given back of a repaid loss is missing again if the loss comes about',
    kind: 'guarded update',
    edits: [
      edit(
        at('losses/refund.store.ts'),
        `madeGoodMicro: sql\`\${lostMicro}\`,`,
        `madeGoodMicro: sql\`\${madeGoodMicro}\`,`,
      ),
    ],
    test: {
      file: at('losses/given-back.test.ts'),
      name: 'security: a dispute that is lost again freezes the wallet if its repayment was given back',
    },
  },
  {
    guard: 'a hold does not end while a refund or dispute is open',
    kind: 'decision',
    edits: [
      edit(
        at('losses/report.ts'),
        "status === 'pending' || status === 'unknown'",
        "status === 'pending' && status !== 'pending'",
      ),
    ],
    test: {
      file: at('losses/going-back.test.ts'),
      name: 'until a pending refund has failed, and the wallet is free again',
    },
  },
  {
    guard: 'an amount in another currency counts as all that is left',
    kind: 'decision',
    edits: [
      edit(
        at('incoming/receive.ts'),
        'refund.currency === charge.currency ? refund.refundedMinor : null',
        'refund.refundedMinor',
      ),
    ],
    test: {
      file: at('losses/going-back.test.ts'),
      name: 'as a whole when %s',
      row: 'it is disputed in ringgit',
    },
  },
  {
    guard: 'a hold lasts until its revocation is final',
    kind: 'decision',
    edits: [
      edit(
        at('incoming/recheck.ts'),
        'return isOnHold(payment) ? checkHold(context, payment) : undefined',
        'return undefined',
      ),
    ],
    test: {
      file: at('losses/going-back.test.ts'),
      name: 'extends the hold before it ends, until it is final',
    },
  },
  {
    guard: 'a reversible payment covers no loss',
    kind: 'decision',
    edits: [
      edit(
        at('incoming/receive.ts'),
        "if (payment.kind !== 'topup' || held || !isShort) return { onchainMicro }",
        "if (payment.kind !== 'topup' || !isShort) return { onchainMicro }",
      ),
    ],
    test: {
      file: at('losses/reversal.test.ts'),
      name: 'recovers nothing by a reversible channel',
    },
  },
  {
    guard: 'a loss is cleared by an operator under the lock of the wallet',
    kind: 'lock',
    edits: [
      edit(
        at('losses/reversal.ts'),
        `    await lockWallet(tx, wallet)
    const row = await findWallet(tx, wallet)
    if (!row) return { refused`,
        `    const row = await findWallet(tx, wallet)
    if (!row) return { refused`,
      ),
    ],
    test: {
      file: at('losses/reversal.test.ts'),
      name: 'is unfrozen once by two concurrent operators, and a further request is answered',
    },
  },
  {
    guard: 'a payment in review is decided once',
    kind: 'guarded update',
    edits: [
      edit(
        at('review/resolve.ts'),
        "if (payment.state !== 'review')\n      return repeated(payment, await lastResolution(tx, paymentId), asked)",
        'void [repeated, lastResolution]',
      ),
      edit(
        at('review/resolve.ts'),
        'if (payment.changedAt.getTime() !== seen.changedAt.getTime())',
        'if (0)',
      ),
    ],
    also: [
      edit(at('onchain/advance.ts'), 'if (!mayBecome(payment, to)) throw', 'if (!mayBecome) throw'),
      withoutIndex('payments.refund_orders_once'),
    ],
    test: {
      file: at('review/review.test.ts'),
      name: 'is ordered once by concurrent operators and by a repeated command',
    },
  },
  {
    guard: 'a payment on the chain is neither credited again nor refunded',
    kind: 'evidence',
    edits: [edit(at('review/resolve.ts'), "if (found.ok.state !== 'unused')", 'if (0)')],
    test: {
      file: at('review/review.test.ts'),
      name: 'is refused while the chain has the effect of the payment',
    },
  },
  {
    guard: 'a refund is looked up before it is requested again',
    kind: 'look-up',
    edits: [
      edit(at('review/refund.ts'), 'if (ours) return recordRefund(context, ours, fetched)', ''),
      edit(
        at('review/refund.ts'),
        'if (isOpen || (paidMinor ?? minor) - goneMinor < minor)',
        'if (0)',
      ),
    ],
    test: {
      file: at('review/review.test.ts'),
      name: 'that was made and %s is found, and not requested again',
      row: 'answered badly',
    },
  },
  {
    guard: 'a refund without a response is not requested again before it would be listed',
    kind: 'look-up',
    edits: [edit(at('review/refund.ts'), 'if (isUnknown) return', '')],
    test: {
      file: at('review/review.test.ts'),
      name: 'with an unknown result is not requested again while the provider cannot be read',
    },
  },
  {
    guard: 'a refund keeps one idempotency key',
    kind: 'key',
    edits: [
      edit(
        at('providers/xendit/client.ts'),
        'const { account, reference: idempotencyKey } = order',
        'const { account } = order\n      const idempotencyKey = crypto.randomUUID()',
      ),
    ],
    test: {
      file: at('review/review.test.ts'),
      name: 'is made once, and ends by its webhook',
    },
  },
  {
    guard: 'one instance counts a refund request before it is sent',
    kind: 'guarded update',
    edits: [edit(at('review/review.store.ts'), '    eq(refundOrders.requests, requests),\n', '')],
    test: {
      file: at('review/review.store.test.ts'),
      name: 'is requested by one of two instances that count it concurrently',
    },
  },
  {
    guard: 'an ended refund keeps its outcome',
    kind: 'guarded update',
    edits: [
      edit(
        at('review/review.store.ts'),
        'eq(refundOrders.reference, reference), inArray(refundOrders.state, before)))',
        'eq(refundOrders.reference, reference)))',
      ),
    ],
    test: {
      file: at('review/review.store.test.ts'),
      name: 'that has ended is not requested again, and keeps its result unless the money comes back',
    },
  },
]
