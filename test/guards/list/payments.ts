import { edit, type Guard } from '../guard'

const at = (path: string) => `services/payments/${path}`

export const paymentGuards: readonly Guard[] = [
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
      name: 'moved by another transaction first stays unchanged, without orders or entries',
    },
  },
  {
    guard: 'an order of a step is sent only if the step was taken',
    kind: 'outbox',
    edits: [
      edit('shared/platform/db/outbox.store.ts', `from moved, \${told} on`, `from \${told} on`),
    ],
    test: {
      file: at('payment.store.test.ts'),
      name: 'moved by another transaction first stays unchanged, without orders or entries',
    },
  },
  {
    guard: 'a posting of a step is booked only if the step was taken',
    kind: 'journal',
    edits: [edit('shared/ledger/journal.store.ts', 'from moved, unnest(', 'from unnest(')],
    test: {
      file: at('payment.store.test.ts'),
      name: 'moved by another transaction first stays unchanged, without orders or entries',
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
        "    .for('update'),\n)\n\nexport async function firstPaymentAt",
        ')\n\nexport async function firstPaymentAt',
      ),
    ],
    test: {
      file: at('payment.store.test.ts'),
      name: 'is locked together with all payments of its wallet',
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
      row: 'a second time, while the first is in review',
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
      file: at('incoming/receive.test.ts'),
      name: 'is priced once, at any rate and for any number of reports',
    },
  },
  {
    guard: 'reversible payments are held, and so are those of unknown channels',
    kind: 'decision',
    edits: [edit(at('decide.ts'), "kind !== 'bank' && kind !== 'qr'", "kind === 'card'")],
    test: {
      file: at('incoming/receive.test.ts'),
      name: 'by %s in %s is ordered once, held: %p',
      row: 'KREDIVO',
    },
  },
  {
    guard: 'a second payment is counted once, however often it is reported',
    kind: 'decision',
    edits: [
      edit(
        at('incoming/receive.ts'),
        "if (!(await recordAnomaly(tx, { kind: 'paid_twice', ...anomaly }))) return",
        "await recordAnomaly(tx, { kind: 'paid_twice', ...anomaly })",
      ),
    ],
    test: {
      file: at('incoming/receive.test.ts'),
      name: 'through two checkouts is credited once, and the second payment goes to review',
    },
  },
  {
    guard: 'an outcome counts only for the current ref of a payment',
    kind: 'decision',
    edits: [
      edit(
        at('onchain/relay.ts'),
        'if (payment.refSequence !== ref.refSequence || leftMicro > payment.leftMicro) return',
        'if (leftMicro > payment.leftMicro) return',
      ),
    ],
    test: {
      file: at('losses/refund.test.ts'),
      name: 'of a part that an earlier relayer version revokes as a whole is applied again',
    },
  },
  {
    guard: 'a repeated report of a revocation is not taken for that of a further one',
    kind: 'decision',
    edits: [
      edit(
        at('onchain/relay.ts'),
        'if (payment.refSequence !== ref.refSequence || leftMicro > payment.leftMicro) return',
        'if (payment.refSequence !== ref.refSequence) return',
      ),
    ],
    test: {
      file: at('losses/refund.test.ts'),
      name: 'of a further part that fails during its revocation: a repeated report of the first revocation does not end the second',
    },
  },
  {
    guard: 'a check of a hold that began before a part was revoked clears nothing',
    kind: 'decision',
    edits: [
      edit(
        at('onchain/hold.ts'),
        'if (row && isWhole(row, payment) && needsHold(row))',
        'if (row && needsHold(row))',
      ),
    ],
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is not cleared by a check that began before it',
    },
  },
]
