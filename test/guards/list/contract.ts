import type { Guard } from '../guard'
import { dropped, instead } from '../operators'

const test = (name: string) => `infra/contracts/${name}.test.ts`

/** Guards of calls that the credit line refuses from every caller. */
export const contractGuards: readonly Guard[] = [
  {
    guard: 'a ref is applied once',
    kind: 'contract',
    by: instead('applied == 0', 'applied == 0 || applied == content'),
    test: {
      file: test('relayed'),
      name: 'a top-up repeated with the same content emits AlreadyApplied and changes nothing',
    },
  },
  {
    guard: 'a ref with different content is refused',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('relayed'),
      name: 'a relayed payment with %s is refused',
      row: 'another amount',
    },
  },
  {
    guard: 'the time of payment belongs to the content of a ref',
    kind: 'contract',
    by: instead('paidAt', 'paidAt * 0'),
    test: { file: test('timing'), name: 'time of payment and hold belong to the content of a ref' },
  },
  {
    guard: 'a repayment with held money frees no credit',
    kind: 'contract',
    by: instead('encumbered', 'encumbered * 0'),
    test: { file: test('held-repayments'), name: 'a held repayment frees no limit for a draw' },
  },
  {
    guard: 'a repayment with held money frees no collateral',
    kind: 'contract',
    by: instead('_requireWithinLimit(line, _takeCollateral(amount, to)', '_takeCollateral(amount, to'),
    test: {
      file: test('held-repayments'),
      name: 'a held repayment frees no collateral for a withdrawal',
    },
  },
  {
    guard: 'held collateral counts only after its hold',
    kind: 'contract',
    by: instead('timestamp', 'timestamp + 1 days'),
    test: {
      file: test('relayed'),
      name: 'a held top-up is pending until its end, then counts in views and calls without a transaction',
    },
  },
  {
    guard: 'held AUSD is not lent',
    kind: 'contract',
    by: [
      instead('repaid', 'repaid + _heldLiquidity.survey().heldRepaid'),
      instead(
        '_heldLiquidity.survey().repaid',
        '(_heldLiquidity.survey().repaid + _heldLiquidity.survey().heldRepaid)',
      ),
    ],
    test: {
      file: test('held-repayments'),
      name: 'AUSD of a held repayment is in the pool, but is not lent before its hold ends',
    },
  },
  {
    guard: 'a freed bucket is folded once',
    kind: 'contract',
    by: instead('CreditLineTypes.Bucket(bucket.until, 0, 0, 0)', 'bucket'),
    test: {
      file: test('lots'),
      name: 'one draw borrows all that 200 released top-ups allow',
    },
  },
  {
    guard: 'an amount of a payment is revoked once',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('relayed'),
      name: 'revoking a top-up a second time takes nothing of another held top-up',
    },
  },
  {
    guard: 'nothing is revoked after its hold',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('relayed'),
      name: 'a top-up cannot be revoked once its hold ended or if it was never held',
    },
  },
  {
    guard: 'a default seizes no held collateral',
    kind: 'contract',
    by: [instead('timestamp', 'timestamp + 10 days'), dropped],
    test: {
      file: test('seizure'),
      name: 'a default seizes no held collateral, and seizeMore only what was released',
    },
  },
  {
    guard: 'a revocation returns the excess before any debt is owed again',
    kind: 'contract',
    by: instead('collateral ? amount : collateral', 'payment.repaid ? 0 : amount - payment.repaid'),
    test: {
      file: test('partial'),
      name: 'revoking only excess returns it and reverses no cycle',
    },
  },
  {
    guard: 'a share is never worth more than a unit by yield',
    kind: 'contract',
    by: instead('dear', 'dear && amount == 0'),
    test: {
      file: test('yield'),
      name: 'yield that makes a share worth more than a unit is refused',
    },
  },
  {
    guard: 'yield is added only by the admin',
    kind: 'contract',
    by: dropped,
    test: { file: test('yield'), name: 'a user cannot add yield' },
  },
  {
    guard: 'a revoked payment returns its amount and not the value of its shares',
    kind: 'contract',
    by: instead('amount', '_ausdOfSharesFloor(shares)'),
    test: {
      file: test('yield'),
      name: 'after yield, revoking a top-up returns the credited amount, and its yield stays with the other shares',
    },
  },
  {
    guard: 'users send no AUSD of the line to the treasury',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('access'),
      name: 'a user can neither draw nor withdraw to %s',
      row: 'the treasury',
    },
  },
  {
    guard: 'a frozen account neither draws nor withdraws',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('held-repayments'),
      name: 'a frozen account can neither draw nor withdraw until the verifier unfreezes it',
    },
  },
  {
    guard: "only the relayer spends the treasury's allowance",
    kind: 'contract',
    by: dropped,
    test: {
      file: test('access'),
      name: '%s.%s refuses callers without its role',
      row: ['creditLine', 'topUp'],
    },
  },
  {
    guard: 'an operation of a batch is run only by its batch',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('access'),
      name: '%s.%s refuses callers without its role',
      row: ['creditLine', 'applyOp'],
    },
  },
  {
    guard: 'a batch that runs out of gas reports no operation as failed',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('relayed'),
      name: 'many reverts as a whole when gas is short, and never reports a valid operation as failed',
    },
  },
  {
    guard: 'nothing is credited while the line is paused',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('access'),
      name: 'many credits nothing during a pause, but still revokes and extends',
    },
  },
]
