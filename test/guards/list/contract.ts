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
]
