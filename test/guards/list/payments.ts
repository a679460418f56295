import type { Guard } from '../guard'
import { dropped, instead, without } from '../operators'

const at = (path: string) => `services/payments/${path}`

export const paymentGuards: readonly Guard[] = [
  {
    guard: 'a payment moves only from the state that was read',
    kind: 'guarded update',
    by: without('eq(payments.state'),
    test: {
      file: at('payment.store.test.ts'),
      name: 'moved by another transaction first stays unchanged, without orders or entries',
    },
  },
  {
    guard: 'an order of a step is sent only if the step was taken',
    kind: 'outbox',
    by: instead('moved, ', ''),
    test: {
      file: at('payment.store.test.ts'),
      name: 'moved by another transaction first stays unchanged, without orders or entries',
    },
  },
  {
    guard: 'a posting of a step is booked only if the step was taken',
    kind: 'journal',
    by: instead('moved, unnest', 'unnest'),
    test: {
      file: at('payment.store.test.ts'),
      name: 'moved by another transaction first stays unchanged, without orders or entries',
    },
  },
  {
    guard: 'one transaction at a time decides about a payment',
    kind: 'lock',
    by: [without('locked'), dropped],
    test: {
      file: at('payment.store.test.ts'),
      name: 'is locked together with all payments of its wallet',
    },
  },
  {
    guard: 'a counted charge is not counted again',
    kind: 'decision',
    by: dropped,
    test: { file: at('decide.test.ts'), name: '%s', row: 'again' },
  },
  {
    guard: 'a second payment for the same top-up is not credited',
    kind: 'decision',
    by: dropped,
    test: {
      file: at('decide.test.ts'),
      name: '%s',
      row: 'a second time, while the first is in review',
    },
  },
  {
    guard: 'a payment with another amount needs manual review',
    kind: 'decision',
    by: dropped,
    test: { file: at('decide.test.ts'), name: '%s', row: 'one short' },
  },
  {
    guard: 'a payment in another currency needs manual review',
    kind: 'decision',
    by: dropped,
    test: { file: at('decide.test.ts'), name: '%s', row: 'in other money' },
  },
  {
    guard: 'a payment refunded before its credit is not credited',
    kind: 'decision',
    by: dropped,
    test: { file: at('decide.test.ts'), name: '%s', row: 'already given back' },
  },
  {
    guard: 'a late payment is credited at no better than the current rate',
    kind: 'decision',
    by: instead('isLate(payment, charge)', 'false'),
    test: {
      file: at('incoming/receive.test.ts'),
      name: 'is priced once, at any rate and for any number of reports',
    },
  },
  {
    guard: 'reversible payments are held, and so are those of unknown channels',
    kind: 'decision',
    by: instead("!== 'bank' && kind !== 'qr'", "=== 'card'"),
    test: {
      file: at('incoming/receive.test.ts'),
      name: 'by %s in %s is ordered once, held: %p',
      row: 'KREDIVO',
    },
  },
  {
    guard: 'a second payment is counted once, however often it is reported',
    kind: 'decision',
    by: instead('return', ';'),
    test: {
      file: at('incoming/receive.test.ts'),
      name: 'through two checkouts is credited once, and the second payment goes to review',
    },
  },
  {
    guard: 'an outcome counts only for the current ref of a payment',
    kind: 'decision',
    by: without('payment.refSequence'),
    test: {
      file: at('losses/refund.test.ts'),
      name: 'of a part that an earlier relayer version revokes as a whole is applied again',
    },
  },
  {
    guard: 'a repeated report of a revocation is not taken for that of a further one',
    kind: 'decision',
    by: without('leftMicro >'),
    test: {
      file: at('losses/refund.test.ts'),
      name: 'of a further part that fails during its revocation is not ended by a repeated report of the first revocation',
    },
  },
  {
    guard: 'a check of a hold that began before a part was revoked clears nothing',
    kind: 'decision',
    by: without('isWhole'),
    test: {
      file: at('onchain/hold.test.ts'),
      name: 'is not cleared by a check that began before it',
    },
  },
]
