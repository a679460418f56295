import { edit, type Guard } from '../guard'

const source = (name: string) => `infra/contracts/src/${name}.sol`
const test = (name: string) => `infra/contracts/${name}.test.ts`

/** Rules of the credit line about cycles, score and ratio. */
export const scoreGuards: readonly Guard[] = [
  {
    guard: 'a reversed cycle loses its score',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '            line.score = line.score > given ? line.score - given : 0;\n',
        '',
      ),
    ],
    test: { file: test('revocation'), name: 'a reversed cycle loses exactly the score it gave' },
  },
  {
    guard: 'a cycle loses its score once',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '        if (!closed.reversed) {',
        '        if (closed.openedAt > 0) {',
      ),
    ],
    // Counting the rewards down once too often reverts.
    also: [
      edit(
        source('Cycles'),
        '            if (given > 0) _bucketOf(line, closed.heldUntil).rewards--;\n',
        '',
      ),
    ],
    test: {
      file: test('revocation'),
      name: 'a cycle loses its score once, however many of its repayments are revoked',
    },
  },
  {
    guard: 'a reversed cycle loses its ratio reward',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '            if (given > 0) _bucketOf(line, closed.heldUntil).rewards--;\n',
        '',
      ),
    ],
    test: {
      file: test('hold-end'),
      name: 'score and ratio reward are lost if payment %d of payments 2 and 3 is revoked',
    },
  },
  {
    guard: 'a cycle with a revoked repayment gives no reward',
    kind: 'contract',
    edits: [edit(source('Cycles'), '        if (line.reversed) return Outcome.Reversed;\n', '')],
    test: {
      file: test('revocation'),
      name: 'a cycle with a revoked repayment closes as Reversed, without it in the sum and without a reward',
    },
  },
  {
    guard: 'a revoked repayment marks its open cycle',
    kind: 'contract',
    edits: [edit(source('Cycles'), '            line.reversed = true;\n', '')],
    test: {
      file: test('revocation'),
      name: 'a cycle with a revoked repayment closes as Reversed, without it in the sum and without a reward',
    },
  },
  {
    guard: 'a mark of a cycle ends with it',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '(line.openedAt, line.reversed, line.heldUntil) = (0, false, 0);',
        '(line.openedAt, line.heldUntil) = (0, 0);',
      ),
    ],
    test: { file: test('revocation'), name: 'a revoked repayment does not affect the next cycle' },
  },
  {
    guard: 'a late cycle gives no reward',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '        if (line.paidAt > _dueAt(line) + _currentPause()) return Outcome.Late;\n',
        '',
      ),
    ],
    test: {
      file: test('revocation'),
      name: 'a late cycle with a revoked repayment closes as Late',
    },
  },
  {
    guard: 'a cycle needs the least time',
    kind: 'contract',
    edits: [edit(source('Cycles'), 'return tooSoon ||', 'return (tooSoon && line.drawn > 0) ||')],
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'a large debt for less time',
    },
  },
  {
    guard: 'a cycle needs the least debt-time',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '        return tooSoon || line.debtSeconds < _minDebt * _minCycleSeconds',
        '        return tooSoon',
      ),
    ],
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'less debt for the least time',
    },
  },
  {
    guard: 'a cycle needs all of the least debt-time',
    kind: 'contract',
    edits: [
      edit(source('Cycles'), '_minDebt * _minCycleSeconds', '_minDebt * _minCycleSeconds / 2'),
    ],
    test: {
      file: test('score'),
      name: 'no sequence of calls with %s debts earns more rewards than closed cycles with enough debt-time',
      row: 'small',
    },
  },
  {
    guard: 'a debt counts from when it is drawn',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '            _count(line);\n        }\n        _takeLiquidity',
        '        }\n        _takeLiquidity',
      ),
    ],
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'a debt that grows too late',
    },
  },
  {
    guard: 'a new cycle begins without debt-time',
    kind: 'contract',
    edits: [
      edit(source('Cycles'), '(line.paidAt, line.debtSeconds) = (0, 0);', 'line.paidAt = 0;'),
    ],
    test: {
      file: test('score'),
      name: 'a revoked unit of a settlement, repaid alone, earns no reward for the debt of the rest',
    },
  },
  {
    guard: 'a new cycle begins without a time of payment',
    kind: 'contract',
    edits: [
      edit(source('Cycles'), '(line.paidAt, line.debtSeconds) = (0, 0);', 'line.debtSeconds = 0;'),
    ],
    test: {
      file: test('timing'),
      name: 'a payment of an earlier cycle does not make a cycle late',
    },
  },
  {
    guard: 'a new cycle counts from its opening',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '        line.countedAt = uint40(block.timestamp);\n        (line.paidAt',
        '        (line.paidAt',
      ),
    ],
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'half the debt for less than twice the time',
    },
  },
  {
    guard: 'restored debt counts in an open cycle from its restoration',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '        _count(line);\n        if (closed.openedAt >= ',
        '        if (closed.openedAt >= ',
      ),
    ],
    test: {
      file: test('score'),
      name: 'restored debt counts in an open cycle only from its restoration',
    },
  },
  {
    guard: 'the ratio reward waits for the last hold',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '            if (waits) _bucketOf(line, line.heldUntil).rewards++;\n            else line',
        '            line',
      ),
    ],
    test: {
      file: test('hold-end'),
      name: 'the ratio reward takes effect when the hold ends, in views and then in calls',
    },
  },
  {
    guard: 'the ratio reward moves with an extended hold',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '            _bucketOf(line, closed.heldUntil).rewards--;\n            _bucketOf(line, until).rewards++;\n',
        '',
      ),
    ],
    test: {
      file: test('hold-end'),
      name: 'the ratio reward moves to the end of a hold that is extended %s',
      row: 'after the cycle closed',
    },
  },
  {
    guard: 'an extended hold of an open cycle delays its reward',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '            if (until > line.heldUntil) line.heldUntil = uint40(until);\n',
        '',
      ),
    ],
    test: {
      file: test('hold-end'),
      name: 'the ratio reward moves to the end of a hold that is extended %s',
      row: 'while it was open',
    },
  },
  {
    guard: 'the ratio has a cap',
    kind: 'contract',
    edits: [edit(source('Cycles'), '        if (bps > RATIO_CAP_BPS) bps = RATIO_CAP_BPS;\n', '')],
    test: { file: test('cycles'), name: 'qualified cycles raise the ratio, but not above its cap' },
  },
  {
    guard: 'a default ends the ratio rewards',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        'if (rewards == 0 || line.defaulted) return bps;',
        'if (rewards == 0) return bps;',
      ),
    ],
    test: {
      file: test('hold-end'),
      name: 'the ratio reward of an earlier cycle is lost by a default',
    },
  },
]
