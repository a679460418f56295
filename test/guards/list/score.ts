import type { Guard } from '../guard'
import { always, dropped, instead, never, without } from '../operators'

const test = (name: string) => `infra/contracts/${name}.test.ts`

export const scoreGuards: readonly Guard[] = [
  {
    guard: 'a reversed cycle loses its score',
    kind: 'contract',
    by: dropped,
    test: { file: test('revocation'), name: 'a reversed cycle loses exactly the score it gave' },
  },
  {
    guard: 'a cycle loses its score once',
    kind: 'contract',
    by: always,
    // Without the guard, one decrement too many reverts.
    also: ['a reversed cycle loses its ratio reward'],
    test: {
      file: test('revocation'),
      name: 'a cycle loses its score once, however many of its repayments are revoked',
    },
  },
  {
    guard: 'a reversed cycle loses its ratio reward',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('hold-end'),
      name: 'score and ratio reward are lost if payment %d of payments 2 and 3 is revoked',
    },
  },
  {
    guard: 'a cycle with a revoked repayment gives no reward',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('revocation'),
      name: 'a cycle with a revoked repayment closes as Reversed, without it in the sum and without a reward',
    },
  },
  {
    guard: 'a revoked repayment marks its open cycle',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('revocation'),
      name: 'a cycle with a revoked repayment closes as Reversed, without it in the sum and without a reward',
    },
  },
  {
    guard: 'a mark of a cycle ends with it',
    kind: 'contract',
    by: instead('reversed, line.heldUntil) = (0, false', 'heldUntil) = (0'),
    test: { file: test('revocation'), name: 'a revoked repayment does not affect the next cycle' },
  },
  {
    guard: 'a late cycle gives no reward',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('revocation'),
      name: 'a late cycle with a revoked repayment closes as Late',
    },
  },
  {
    guard: 'a cycle needs the least time',
    kind: 'contract',
    by: instead('tooSoon', '(tooSoon && line.drawn > 0)'),
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'a large debt for less time',
    },
  },
  {
    guard: 'restored debt makes no cycle long enough',
    kind: 'contract',
    by: instead('startedAt', 'openedAt'),
    test: {
      file: test('score'),
      name: 'restored debt, of a new cycle or in an open one, does not make a cycle long enough',
    },
  },
  {
    guard: 'a cycle needs the least debt-time',
    kind: 'contract',
    by: instead('_minDebt *', '0 *'),
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'less debt for the least time',
    },
  },
  {
    guard: 'a cycle needs all of the least debt-time',
    kind: 'contract',
    by: instead('_minCycleSeconds', '_minCycleSeconds / 2'),
    test: {
      file: test('score'),
      name: 'no sequence of calls with %s debts earns more rewards than closed cycles with enough debt-time',
      row: 'small',
    },
  },
  {
    guard: 'a debt counts from when it is drawn',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'a debt that grows too late',
    },
  },
  {
    guard: 'a new cycle begins without debt-time',
    kind: 'contract',
    by: instead('line.debtSeconds', 'line.paidAt'),
    test: {
      file: test('score'),
      name: 'restored debt counts in an open cycle only from its restoration',
    },
  },
  {
    guard: 'a new cycle begins without a time of payment',
    kind: 'contract',
    by: instead('line.paidAt', 'line.debtSeconds'),
    test: {
      file: test('timing'),
      name: 'a payment of an earlier cycle does not make a cycle late',
    },
  },
  {
    guard: 'a new cycle counts from its opening',
    kind: 'contract',
    by: instead('line.countedAt', 'line.startedAt'),
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'half the debt for less than twice the time',
    },
  },
  {
    guard: 'restored debt counts in an open cycle from its restoration',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('score'),
      name: 'restored debt counts in an open cycle only from its restoration',
    },
  },
  {
    guard: 'the ratio reward waits for the last hold',
    kind: 'contract',
    by: never,
    test: {
      file: test('hold-end'),
      name: 'the ratio reward takes effect when the hold ends, in views and then in calls',
    },
  },
  {
    guard: 'the ratio reward moves with an extended hold',
    kind: 'contract',
    by: never,
    test: {
      file: test('hold-end'),
      name: 'the ratio reward moves to the end of a hold that is extended %s',
      row: 'after the cycle closed',
    },
  },
  {
    guard: 'an extended hold of an open cycle delays its reward',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('hold-end'),
      name: 'the ratio reward moves to the end of a hold that is extended %s',
      row: 'while it was open',
    },
  },
  {
    guard: 'the ratio has a cap',
    kind: 'contract',
    by: dropped,
    test: { file: test('cycles'), name: 'qualified cycles raise the ratio, but not above its cap' },
  },
  {
    guard: 'a late cycle costs score',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('cycles'),
      name: 'a late cycle lowers score and ratio, but not below their initial values',
    },
  },
  {
    guard: 'a late cycle costs ratio',
    kind: 'contract',
    by: without('RATIO_PENALTY_BPS'),
    test: {
      file: test('cycles'),
      name: 'a late cycle lowers score and ratio, but not below their initial values',
    },
  },
  {
    guard: 'the latest payment decides whether a cycle is late',
    kind: 'contract',
    by: always,
    test: {
      file: test('timing'),
      name: 'a cycle is late by its latest payment, not by the one that closes it',
    },
  },
  {
    guard: 'a time of payment is at most a week ago',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('timing'),
      name: 'a cycle repaid by a payment %s is judged by the time of payment',
      row: 'paid in time and relayed more than a week late',
    },
  },
  {
    guard: 'restored debt keeps its due date in a new cycle',
    kind: 'contract',
    by: instead('dueAt', 'dueAt + _termSeconds'),
    test: {
      file: test('revocation'),
      name: 'revoking the repayment of a closed cycle opens a new cycle with the old dates',
    },
  },
  {
    guard: 'restored debt brings its due date into an open cycle',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('revocation'),
      name: 'restored debt joins the open cycle, which takes the earlier dates',
    },
  },
  {
    guard: 'a default waits until every payment made in the grace can have been recorded',
    kind: 'contract',
    by: instead('_defaultsAt(line) + RECORDING_MAX', '_defaultsAt(line)'),
    test: { file: test('dates'), name: 'markDefault is refused until the last second of the week after defaultsAt' },
  },
  {
    guard: 'restored debt has a day of grace',
    kind: 'contract',
    by: instead('own > usual ? own : usual', 'own > usual ? usual : usual'),
    test: {
      file: test('revocation'),
      name: 'the grace of debt %s ends a day after its restoration or as agreed',
      row: 'revoked after the grace period',
    },
  },
  {
    guard: 'a restoration delays no default beyond the last possible revocation',
    kind: 'contract',
    by: instead('restored < last ? restored : last', 'restored < last ? restored : restored'),
    test: {
      file: test('revocation'),
      name: 'the grace of debt %s ends a day after its restoration or as agreed',
      row: 'that was restored again after the last possible revocation of a payment in time',
    },
  },
  {
    guard: 'a new cycle begins without a time of restoration',
    kind: 'contract',
    by: dropped,
    test: { file: test('revocation'), name: 'a restoration delays no default of a later cycle' },
  },
  {
    guard: 'an extension that ends earlier moves no ratio reward',
    kind: 'contract',
    by: without('until'),
    test: {
      file: test('score'),
      name: 'the ratio reward does not move to an extended hold that ends before another',
    },
  },
  {
    guard: 'a default takes the score',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('hold-end'),
      name: 'the ratio reward of an earlier cycle is lost by a default',
    },
  },
  {
    guard: 'a default takes the ratio',
    kind: 'contract',
    by: dropped,
    test: {
      file: test('cycles'),
      name: 'a default takes score and ratio of the cycles before it',
    },
  },
  {
    guard: 'a default ends the ratio rewards',
    kind: 'contract',
    by: without('line.defaulted'),
    test: {
      file: test('hold-end'),
      name: 'the ratio reward of an earlier cycle is lost by a default',
    },
  },
]
