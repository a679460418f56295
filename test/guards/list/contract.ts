import { edit, type Guard } from '../guard'

const source = (name: string) => `infra/contracts/src/${name}.sol`
const test = (name: string) => `infra/contracts/${name}.test.ts`

/** Calls that the credit line refuses from every caller. */
export const contractGuards: readonly Guard[] = [
  {
    guard: 'a ref is applied once',
    kind: 'contract',
    edits: [
      edit(
        source('RelayedOps'),
        'if (applied == 0) {',
        'if (applied == 0 || applied == content) {',
      ),
    ],
    test: {
      file: test('relayed'),
      name: 'a top-up repeated with the same content emits AlreadyApplied and changes nothing',
    },
  },
  {
    guard: 'a ref with different content is refused',
    kind: 'contract',
    edits: [edit(source('RelayedOps'), 'if (applied != content) revert RefConflict(ref);', '')],
    test: {
      file: test('relayed'),
      name: 'a relayed payment with %s is refused',
      row: 'another amount',
    },
  },
  {
    guard: 'the time of payment belongs to the content of a ref',
    kind: 'contract',
    edits: [
      edit(
        source('RelayedOps'),
        'keccak256(abi.encode(kind, account, amount, paidAt))',
        'keccak256(abi.encode(kind, account, amount, paidAt * 0))',
      ),
    ],
    test: { file: test('timing'), name: 'time of payment and hold belong to the content of a ref' },
  },
  {
    guard: 'a repayment with held money frees no credit',
    kind: 'contract',
    edits: [
      edit(
        source('CreditLine'),
        'uint256 used = line.drawn + encumbered;',
        'uint256 used = line.drawn + encumbered * 0;',
      ),
    ],
    test: { file: test('held-repayments'), name: 'a held repayment frees no limit for a draw' },
  },
  {
    guard: 'a repayment with held money frees no collateral',
    kind: 'contract',
    edits: [
      edit(
        source('CreditLine'),
        '_requireWithinLimit(line, _takeCollateral(amount, to));',
        '_takeCollateral(amount, to);',
      ),
    ],
    test: {
      file: test('held-repayments'),
      name: 'a held repayment frees no collateral for a withdrawal',
    },
  },
  {
    guard: 'held collateral counts only after its hold',
    kind: 'contract',
    edits: [
      edit(
        source('Buckets'),
        '            if (bucket.until <= block.timestamp) {',
        '            if (bucket.until <= block.timestamp + 1 days) {',
      ),
    ],
    test: {
      file: test('relayed'),
      name: 'a held top-up is pending until its end, then counts in views and calls without a transaction',
    },
  },
  {
    guard: 'held AUSD is not lent',
    kind: 'contract',
    edits: [
      edit(
        source('LendingPool'),
        'return _pool.free + _heldLiquidity.survey().repaid;',
        'return _pool.free + _heldLiquidity.survey().repaid + _heldLiquidity.survey().heldRepaid;',
      ),
      edit(
        source('LendingPool'),
        '            _pool.free += _heldLiquidity.survey().repaid.toUint96();',
        '            _pool.free += (_heldLiquidity.survey().repaid + _heldLiquidity.survey().heldRepaid).toUint96();',
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
    edits: [
      edit(
        source('Buckets'),
        '            buckets[i] = CreditLineTypes.Bucket(bucket.until, 0, 0, 0);',
        '            buckets[i] = bucket;',
      ),
    ],
    test: {
      file: test('lots'),
      name: 'one draw borrows all that 200 released top-ups allow',
    },
  },
  {
    guard: 'an amount of a payment is revoked once',
    kind: 'contract',
    edits: [edit(source('Holds'), '        payment.collateral = uint72(whole - amount);\n', '')],
    test: {
      file: test('relayed'),
      name: 'revoking a top-up a second time takes nothing of another held top-up',
    },
  },
  {
    guard: 'nothing is revoked after its hold',
    kind: 'contract',
    edits: [
      edit(source('RelayedOps'), '        if (!_isHeld(payment)) revert NotHeld(ref);\n', ''),
    ],
    test: {
      file: test('relayed'),
      name: 'a top-up cannot be revoked once its hold ended or if it was never held',
    },
  },
  {
    guard: 'a default seizes no held collateral',
    kind: 'contract',
    edits: [
      edit(source('Buckets'), '            if (bucket.until > block.timestamp) continue;\n', ''),
      edit(
        source('Buckets'),
        '            if (bucket.until <= block.timestamp) {',
        '            if (bucket.until <= block.timestamp + 10 days) {',
      ),
    ],
    test: {
      file: test('seizure'),
      name: 'a default seizes no held collateral, and seizeMore only what was released',
    },
  },
  {
    guard: 'a revocation returns the excess before any debt is owed again',
    kind: 'contract',
    edits: [
      edit(
        source('RelayedOps'),
        'uint256 fromCollateral = amount < collateral ? amount : collateral;',
        'uint256 fromCollateral = amount < payment.repaid ? 0 : amount - payment.repaid;',
      ),
    ],
    test: {
      file: test('partial'),
      name: 'revoking only excess returns it and reverses no cycle',
    },
  },
  {
    guard: 'a share is never worth more than a unit by yield',
    kind: 'contract',
    edits: [
      edit(source('CreditLineExtension'), 'if (dear) revert', 'if (dear && amount == 0) revert'),
    ],
    test: {
      file: test('yield'),
      name: 'yield that makes a share worth more than a unit is refused',
    },
  },
  {
    guard: 'yield is added only by the admin',
    kind: 'contract',
    edits: [
      edit(
        source('CreditLineExtension'),
        '        onlyThroughLine\n        onlyRole(DEFAULT_ADMIN_ROLE)\n        nonReentrant',
        '        onlyThroughLine\n        nonReentrant',
      ),
    ],
    test: { file: test('yield'), name: 'a user cannot add yield' },
  },
  {
    guard: 'a revoked payment returns its amount and not the value of its shares',
    kind: 'contract',
    edits: [
      edit(
        source('Holds'),
        '        _burnShares(shares, amount);\n',
        '        _burnShares(shares, _ausdOfSharesFloor(shares));\n',
      ),
    ],
    test: {
      file: test('yield'),
      name: 'after yield, revoking a top-up returns the credited amount, and its yield stays with the other shares',
    },
  },
  {
    guard: 'users send no AUSD of the line to the treasury',
    kind: 'contract',
    edits: [
      edit(source('CreditLine'), '        if (to == _treasury) revert InvalidRecipient(to);\n', ''),
    ],
    test: {
      file: test('access'),
      name: 'a user can neither draw nor withdraw to %s',
      row: 'the treasury',
    },
  },
  {
    guard: 'a frozen account neither draws nor withdraws',
    kind: 'contract',
    edits: [
      edit(
        source('CreditLine'),
        '        if (line.frozen) revert AccountFrozen(msg.sender);\n        uint256 encumbered',
        '        uint256 encumbered',
      ),
      edit(
        source('CreditLine'),
        '        if (line.frozen) revert AccountFrozen(msg.sender);\n        _requireWithinLimit',
        '        _requireWithinLimit',
      ),
    ],
    test: {
      file: test('held-repayments'),
      name: 'a frozen account can neither draw nor withdraw until the verifier unfreezes it',
    },
  },
  {
    guard: "only the relayer spends the treasury's allowance",
    kind: 'contract',
    edits: [
      edit(
        source('RelayedOps'),
        '        external\n        onlyRole(RELAYER_ROLE)\n        nonReentrant\n    {\n        _topUp(ref, account, amount, held);',
        '        external\n        nonReentrant\n    {\n        _topUp(ref, account, amount, held);',
      ),
    ],
    test: {
      file: test('access'),
      name: '%s.%s refuses callers without its role',
      row: ['creditLine', 'topUp'],
    },
  },
  {
    guard: 'an operation of a batch is run only by its batch',
    kind: 'contract',
    edits: [edit(source('RelayedOps'), 'if (msg.sender != address(this)) revert OnlySelf();', '')],
    test: {
      file: test('access'),
      name: '%s.%s refuses callers without its role',
      row: ['creditLine', 'applyOp'],
    },
  },
  {
    guard: 'a batch that runs out of gas reports no operation as failed',
    kind: 'contract',
    edits: [edit(source('RelayedOps'), 'if (gasleft() < OP_GAS_FLOOR) revert GasTooLow(i);', '')],
    test: {
      file: test('relayed'),
      name: 'many reverts as a whole when gas is short, and never reports a valid operation as failed',
    },
  },
  {
    guard: 'nothing is credited while the line is paused',
    kind: 'contract',
    edits: [
      edit(
        source('RelayedOps'),
        '        _requireNotPaused();\n        if (!_claim(ref, held ? KIND_HELD_TOP_UP',
        '        if (!_claim(ref, held ? KIND_HELD_TOP_UP',
      ),
    ],
    test: {
      file: test('access'),
      name: 'many credits nothing during a pause, but still revokes and extends',
    },
  },
  {
    guard: 'the debt-time of a closed cycle moves once',
    kind: 'contract',
    edits: [edit(source('Cycles'), '        closed.debtSeconds = 0;\n', '')],
    test: {
      file: test('score'),
      name: 'revoking and repaying %d held settlements of one cycle, of %s AUSD each, earns one reward',
    },
  },
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
      edit(source('Cycles'), '        if (line.paidAt > _dueAt(line)) return Outcome.Late;\n', ''),
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
    guard: 'a new cycle begins without debt-time',
    kind: 'contract',
    edits: [
      edit(source('Cycles'), '(line.paidAt, line.debtSeconds) = (0, 0);', 'line.paidAt = 0;'),
    ],
    test: {
      file: test('timing'),
      name: 'a cycle with %s closes as %s',
      row: 'less debt for the least time',
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
        '        } else {\n            _count(line);\n            if (closed.openedAt',
        '        } else {\n            if (closed.openedAt',
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
