import { edit, type Guard } from '../guard'

const source = (name: string) => `infra/contracts/src/${name}.sol`
const test = (name: string) => `infra/contracts/${name}.test.ts`

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
    // One decrement too many reverts.
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
    guard: 'restored debt makes no cycle long enough',
    kind: 'contract',
    edits: [
      edit(source('Cycles'), 'block.timestamp - line.startedAt', 'block.timestamp - line.openedAt'),
    ],
    test: {
      file: test('score'),
      name: 'restored debt, of a new cycle or in an open one, does not make a cycle long enough',
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
      name: 'restored debt counts in an open cycle only from its restoration',
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
        '(line.startedAt, line.countedAt) = (uint40(block.timestamp), uint40(block.timestamp));',
        'line.startedAt = uint40(block.timestamp);',
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
    guard: 'a late cycle costs score',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '            line.score = line.score > SCORE_PENALTY ? uint32(line.score - SCORE_PENALTY) : 0;\n',
        '',
      ),
    ],
    test: {
      file: test('cycles'),
      name: 'a late cycle lowers score and ratio, but not below their initial values',
    },
  },
  {
    guard: 'a late cycle costs ratio',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '_initialRatioBps : ratioBps - RATIO_PENALTY_BPS);',
        '_initialRatioBps : ratioBps);',
      ),
    ],
    test: {
      file: test('cycles'),
      name: 'a late cycle lowers score and ratio, but not below their initial values',
    },
  },
  {
    guard: 'the latest payment decides whether a cycle is late',
    kind: 'contract',
    edits: [edit(source('Cycles'), 'if (paidAt > line.paidAt) line.paidAt', 'line.paidAt')],
    test: {
      file: test('timing'),
      name: 'a cycle is late by its latest payment, not by the one that closes it',
    },
  },
  {
    guard: 'a time of payment is at most a day ago',
    kind: 'contract',
    edits: [edit(source('Cycles'), '        if (paidAt < least) return least;\n', '')],
    test: {
      file: test('timing'),
      name: 'a cycle repaid by a payment %s is judged by the time of payment',
      row: 'paid in time and relayed more than a day late',
    },
  },
  {
    guard: 'restored debt keeps its due date in a new cycle',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        'return _open(account, line, closed.openedAt, closed.dueAt);',
        'return _open(account, line, closed.openedAt, closed.dueAt + _termSeconds);',
      ),
    ],
    test: {
      file: test('revocation'),
      name: 'revoking the repayment of a closed cycle opens a new cycle with the old dates',
    },
  },
  {
    guard: 'restored debt brings its due date into an open cycle',
    kind: 'contract',
    edits: [
      edit(
        source('Cycles'),
        '        if (closed.dueAt < line.dueAt) line.dueAt = closed.dueAt;\n',
        '',
      ),
    ],
    test: {
      file: test('revocation'),
      name: 'restored debt joins the open cycle, which takes the earlier dates',
    },
  },
  {
    guard: 'an extension that ends earlier moves no ratio reward',
    kind: 'contract',
    edits: [edit(source('Cycles'), ' || until <= closed.heldUntil', '')],
    test: {
      file: test('score'),
      name: 'the ratio reward does not move to an extended hold that ends before another',
    },
  },
  {
    guard: 'a default takes the score',
    kind: 'contract',
    edits: [edit(source('Cycles'), '        line.score = 0;\n', '')],
    test: {
      file: test('hold-end'),
      name: 'the ratio reward of an earlier cycle is lost by a default',
    },
  },
  {
    guard: 'a default takes the ratio',
    kind: 'contract',
    edits: [edit(source('Cycles'), '        line.ratioBps = uint16(_initialRatioBps);\n', '')],
    test: {
      file: test('cycles'),
      name: 'a default takes score and ratio of the cycles before it',
    },
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
