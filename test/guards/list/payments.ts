import { edit, type Guard, withoutIndex } from '../guard'

const at = (path: string) => `services/payments/${path}`

/** Incoming payments: owner, amount, and counted once. */
const money: readonly Guard[] = [
  {
    guard: 'a payment moves only from the state that was read',
    kind: 'guarded update',
    edits: [
      edit(
        at('payment.store.ts'),
        `sql\`\${payments.state} = any(\${placeholder('from')})\`,`,
        `sql\`\${placeholder('from')}::text[] is not null\`,`,
      ),
    ],
    test: {
      file: at('payment.store.test.ts'),
      name: 'that somebody else moved first stays as it is, and nothing is ordered or booked',
    },
  },
  {
    guard: 'an order of a step is sent only if the step was taken',
    kind: 'outbox',
    edits: [edit('shared/db/outbox.store.ts', `from moved, \${told} on`, `from \${told} on`)],
    test: {
      file: at('payment.store.test.ts'),
      name: 'that somebody else moved first stays as it is, and nothing is ordered or booked',
    },
  },
  {
    guard: 'a posting of a step is booked only if the step was taken',
    kind: 'journal',
    edits: [edit('shared/ledger/journal.store.ts', 'from moved, unnest(', 'from unnest(')],
    test: {
      file: at('payment.store.test.ts'),
      name: 'that somebody else moved first stays as it is, and nothing is ordered or booked',
    },
  },
  {
    guard: 'one transaction at a time decides about a payment',
    kind: 'lock',
    edits: [
      edit(
        at('payment.store.ts'),
        `{ ...getTableColumns(payments), locked: lockOf(sql\`'wallet:' || \${payments.wallet}\`) }`,
        'getTableColumns(payments)',
      ),
      edit(
        at('payment.store.ts'),
        "    .for('update'),\n)\n\n/** Returns the creation",
        ')\n\n/** Returns the creation',
      ),
    ],
    test: {
      file: at('payment.store.test.ts'),
      name: 'is decided about by one transaction at a time, with all of its wallet',
    },
  },
  {
    guard: 'a counted charge is not counted again',
    kind: 'decision',
    edits: [
      edit(at('decide.ts'), 'if (isTheFirst && !awaitsRate(payment)) return { known: true }', ''),
    ],
    test: { file: at('decide.test.ts'), name: '%s', row: 'again' },
  },
  {
    guard: 'a second payment for the same top-up is not credited',
    kind: 'decision',
    edits: [
      edit(
        at('decide.ts'),
        'if (payment.providerPaymentId !== null && !isTheFirst) return { overpaid: true }',
        '',
      ),
    ],
    test: {
      file: at('decide.test.ts'),
      name: '%s',
      row: 'a second time, while the first waits for a person',
    },
  },
  {
    guard: 'a payment with another amount needs manual review',
    kind: 'decision',
    edits: [
      edit(
        at('decide.ts'),
        "if (charge.paidMinor !== payment.fiatMinor) return { next: 'review', reason: 'amount_differs' }",
        '',
      ),
    ],
    test: { file: at('decide.test.ts'), name: '%s', row: 'one short' },
  },
  {
    guard: 'a payment in another currency needs manual review',
    kind: 'decision',
    edits: [
      edit(
        at('decide.ts'),
        "if (charge.currency !== payment.currency) return { next: 'review', reason: 'currency_differs' }",
        '',
      ),
    ],
    test: { file: at('decide.test.ts'), name: '%s', row: 'in other money' },
  },
  {
    guard: 'a payment refunded before its credit is not credited',
    kind: 'decision',
    edits: [
      edit(
        at('decide.ts'),
        "if (remainderFloor(payment) === 0n) return { next: 'refunded', reason: 'refunded_before_credit' }",
        '',
      ),
    ],
    test: { file: at('decide.test.ts'), name: '%s', row: 'already given back' },
  },
  {
    guard: 'a late payment is credited at no better than the current rate',
    kind: 'decision',
    edits: [
      edit(
        at('decide.ts'),
        'const isToBePriced = isLate(payment, charge)',
        'const isToBePriced = false',
      ),
    ],
    test: {
      file: at('receive.test.ts'),
      name: 'is priced once, however often and at whatever rate it is heard of again',
    },
  },
  {
    guard: 'reversible payments are held, and so are those of unknown channels',
    kind: 'decision',
    edits: [edit(at('decide.ts'), "kind !== 'bank' && kind !== 'qr'", "kind === 'card'")],
    test: {
      file: at('receive.test.ts'),
      name: 'by %s in %s is ordered once, held: %p',
      row: 'KREDIVO',
    },
  },
  {
    guard: 'a second payment is counted once, however often it is reported',
    kind: 'decision',
    edits: [
      edit(
        at('receive.ts'),
        "if (!(await recordAnomaly(tx, { kind: 'paid_twice', ...anomaly }))) return",
        "await recordAnomaly(tx, { kind: 'paid_twice', ...anomaly })",
      ),
    ],
    test: {
      file: at('receive.test.ts'),
      name: 'through two checkouts is credited once, and the second waits for a person',
    },
  },
  {
    guard: 'an outcome counts only for the current part of a payment',
    kind: 'decision',
    edits: [edit(at('relay.ts'), 'if (payment.part !== ref.part) return', '')],
    test: {
      file: at('refund.test.ts'),
      name: 'of a part during the hold takes all of it back and credits the rest under its own ref',
    },
  },
]

/** Refunds: counted once, never missed within a hold, and ordered once. */
const refunds: readonly Guard[] = [
  {
    guard: 'a hold does not end before the provider was asked',
    kind: 'evidence',
    edits: [edit(at('checks/hold.ts'), 'if (!answered) return after(sweepAfterMs)', '')],
    test: {
      file: at('checks/hold.test.ts'),
      name: 'does not mature while the provider cannot be asked',
    },
  },
  {
    guard: 'a hold is extended while the provider does not respond',
    kind: 'evidence',
    edits: [edit(at('checks/hold.ts'), 'await extend(context, payment, until!)', '')],
    test: {
      file: at('checks/hold.test.ts'),
      name: 'is extended when the provider is silent shortly before the end',
    },
  },
  {
    guard: 'a response counts only for the hold end it was requested for',
    kind: 'evidence',
    edits: [edit(at('checks/hold.ts'), 'await notePayment(tx, id, { clearedAt: null })', '')],
    test: {
      file: at('checks/hold.test.ts'),
      name: 'that was extended after an answer wants another one before its new end',
    },
  },
  {
    guard: 'a 404 for refunds is inconclusive until the list was read',
    kind: 'evidence',
    edits: [
      edit(
        at('checks/hold.ts'),
        'await receiveListed(paymentListing(context), account, paidAt ?? payment.createdAt)',
        'void [receiveListed, paymentListing, account, paidAt]',
      ),
    ],
    test: {
      file: at('checks/hold.test.ts'),
      name: 'a 404 for its refunds is no answer unless the list of transactions was read',
    },
  },
  {
    guard: 'a succeeded refund stays succeeded, whatever is reported later',
    kind: 'guarded update',
    edits: [
      edit(
        at('refunds/refund.store.ts'),
        `case when \${refunds.status} = 'succeeded' then 'succeeded' else excluded.status end`,
        'excluded.status',
      ),
      edit(
        at('refunds/refund.store.ts'),
        `      setWhere: sql\`\${refunds.status} <> 'succeeded' or \${refunds.paymentId} = ''\`,\n`,
        '',
      ),
    ],
    test: {
      file: at('refunds/refund.store.test.ts'),
      name: 'that succeeded stays so, and is summed up once',
    },
  },
  {
    guard: 'the loss of a payment only grows, and is claimed once',
    kind: 'guarded update',
    edits: [
      edit(
        at('refunds/refund.store.ts'),
        `      setWhere: sql\`\${reversals.lostMicro} < \${reversal.lostMicro.toString()}::numeric\`,\n`,
        '',
      ),
    ],
    test: {
      file: at('refunds/refund.store.test.ts'),
      name: 'that is told again is no new one, and of one that grew the rest is missing',
    },
  },
  {
    guard: 'a reversible payment covers no loss',
    kind: 'decision',
    edits: [
      edit(
        at('receive.ts'),
        "if (payment.kind !== 'topup' || held || !isShort) return { liveMicro }",
        "if (payment.kind !== 'topup' || !isShort) return { liveMicro }",
      ),
    ],
    test: {
      file: at('refunds/reversal.test.ts'),
      name: 'makes nothing good by a channel whose money could be taken back in turn',
    },
  },
  {
    guard: 'a loss is cleared by an operator under the lock of the wallet',
    kind: 'lock',
    edits: [
      edit(
        at('refunds/reversal.ts'),
        `    await lockWallet(tx, wallet)
    const row = await findWallet(tx, wallet)
    if (!row) return { refused`,
        `    const row = await findWallet(tx, wallet)
    if (!row) return { refused`,
      ),
    ],
    test: {
      file: at('refunds/reversal.test.ts'),
      name: 'is freed once by two operators at once, and whoever asks again is told',
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
      edit(at('advance.ts'), 'if (!mayBecome(payment, to)) throw', 'if (!mayBecome) throw'),
      withoutIndex('payments.refund_orders_once'),
    ],
    test: {
      file: at('review/review.test.ts'),
      name: 'is ordered once by two operators at once, and by one who asks again',
    },
  },
  {
    guard: 'a payment on the chain is neither credited again nor refunded',
    kind: 'evidence',
    edits: [edit(at('review/resolve.ts'), "if (found.ok.state !== 'unused')", 'if (0)')],
    test: {
      file: at('review/review.test.ts'),
      name: 'is refused while the chain has what the payment was for',
    },
  },
  {
    guard: 'a refund is looked up before it is requested again',
    kind: 'look-up',
    edits: [
      edit(at('review/refund.ts'), 'if (ours) return learn(context, ours, fetched)', ''),
      edit(
        at('review/refund.ts'),
        'if (paidMinor !== null && paidMinor - backMinor < minor)',
        'if (0)',
      ),
    ],
    test: {
      file: at('review/review.test.ts'),
      name: 'that was made and %s is found, and not asked for again',
      row: 'answered badly',
    },
  },
  {
    guard: 'a refund without a response is not requested again before it would be listed',
    kind: 'look-up',
    edits: [edit(at('review/refund.ts'), 'if (!isUnknown) await request', 'await request')],
    test: {
      file: at('review/review.test.ts'),
      name: 'that is unknown is not asked for again while nobody can look',
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
      name: 'goes back once, and ends by its webhook',
    },
  },
  {
    guard: 'one instance counts a refund request before it is sent',
    kind: 'guarded update',
    edits: [edit(at('review/review.store.ts'), '    eq(refundOrders.requests, requests),\n', '')],
    test: {
      file: at('review/review.store.test.ts'),
      name: 'is asked for by one of two copies that count it at once',
    },
  },
  {
    guard: 'an ended refund keeps its outcome',
    kind: 'guarded update',
    edits: [
      edit(
        at('review/review.store.ts'),
        "eq(refundOrders.reference, reference), eq(refundOrders.state, 'open')))",
        'eq(refundOrders.reference, reference)))',
      ),
    ],
    test: {
      file: at('review/review.store.test.ts'),
      name: 'that is over stays as it ended, and is not asked for again',
    },
  },
]

/** Guards against payments that are lost or counted twice. */
export const paymentGuards: readonly Guard[] = [...money, ...refunds]
