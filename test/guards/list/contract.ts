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
      name: 'repeated with the same content says so and changes nothing',
    },
  },
  {
    guard: 'a ref with different content is refused',
    kind: 'contract',
    edits: [edit(source('RelayedOps'), 'if (applied != content) revert RefConflict(ref);', '')],
    test: { file: test('relayed'), name: 'with %s is refused', row: 'another amount' },
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
    test: { file: test('timing'), name: 'belongs to the content of a ref, as does the hold' },
  },
  {
    guard: 'a repayment with held money frees no credit',
    kind: 'contract',
    edits: [
      edit(
        source('CreditLine'),
        'uint256 used = uint256(line.drawn) + line.encumbered;',
        'uint256 used = uint256(line.drawn);',
      ),
    ],
    test: { file: test('held-repayments'), name: 'frees nothing of the limit for draws' },
  },
  {
    guard: 'a repayment with held money frees no collateral',
    kind: 'contract',
    edits: [
      edit(
        source('CreditLine'),
        '        uint256 shares = _takeCollateral(amount);\n        _requireWithinLimit(_lines[msg.sender]);',
        '        uint256 shares = _takeCollateral(amount);',
      ),
    ],
    test: { file: test('held-repayments'), name: 'frees no collateral either' },
  },
  {
    guard: 'held collateral counts only after its hold',
    kind: 'contract',
    edits: [
      edit(
        source('HoldQueue'),
        'if (hold.until > block.timestamp) {\n                    if (hold.extendedSeconds == 0) break;\n                    continue;\n                }',
        '',
      ),
    ],
    test: {
      file: test('relayed'),
      name: 'is pending until its time, then counts on its own in views and in calls',
    },
  },
  {
    guard: 'held AUSD is not lent',
    kind: 'contract',
    edits: [
      edit(
        source('HeldRepayments'),
        '            HeldLiquidity memory one = _heldLiquidity[pool.head];\n            if (one.until > block.timestamp) break;',
        '            HeldLiquidity memory one = _heldLiquidity[pool.head];',
      ),
    ],
    test: {
      file: test('held-repayments'),
      name: 'is in the pool but not lent out before the hold ends',
    },
  },
  {
    guard: 'a hold is revoked once',
    kind: 'contract',
    edits: [edit(source('HeldLots'), '        lot.state = HoldQueue.State.Revoked;\n', '')],
    test: { file: test('relayed'), name: 'revoked twice takes nothing of another that is held' },
  },
  {
    guard: 'nothing is revoked after its hold',
    kind: 'contract',
    edits: [
      edit(
        source('HoldQueue'),
        '&& hold.until > block.timestamp && index >= head',
        '&& index >= head && block.timestamp > 0',
      ),
    ],
    test: {
      file: test('relayed'),
      name: 'cannot be revoked once matured, folded or not, nor can what was never held',
    },
  },
  {
    guard: 'a frozen account neither draws nor withdraws',
    kind: 'contract',
    edits: [
      edit(source('CreditLine'), 'if (line.frozen) revert AccountFrozen(msg.sender);', ''),
      edit(
        source('CreditLine'),
        'if (_lines[msg.sender].frozen) revert AccountFrozen(msg.sender);',
        '',
      ),
    ],
    test: {
      file: test('held-repayments'),
      name: 'neither draws nor withdraws, until the verifier ends it',
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
      name: '%s.%s lets in only who it should',
      row: ['creditLine', 'topUp'],
    },
  },
  {
    guard: 'an operation of a batch is run only by its batch',
    kind: 'contract',
    edits: [edit(source('RelayedOps'), 'if (msg.sender != address(this)) revert OnlySelf();', '')],
    test: {
      file: test('access'),
      name: '%s.%s lets in only who it should',
      row: ['creditLine', 'applyOp'],
    },
  },
  {
    guard: 'a batch that runs out of gas reports no operation as failed',
    kind: 'contract',
    edits: [edit(source('RelayedOps'), 'if (gasleft() < OP_GAS_FLOOR) revert GasTooLow(i);', '')],
    test: {
      file: test('relayed'),
      name: 'reverts whole when gas is short, and never calls a good operation failed',
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
      name: 'many brings nothing in, but still takes back and puts off',
    },
  },
]
