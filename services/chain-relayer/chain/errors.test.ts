import { describe, expect, test } from 'bun:test'
import { encodeErrorResult, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { payerOf } from '../operations/operation'
import { afterRevert, afterSend, errorNames, revertOf, verdictOnSend } from './errors'

const ref: Hex = `0x${'11'.repeat(32)}`
const wallet: Hex = `0x${'22'.repeat(20)}`
const treasury: Hex = `0x${'ab'.repeat(20)}`
const lane: Hex = `0x${'cd'.repeat(20)}`
const abi = [...ausdAbi, ...creditLineAbi] as const
const data = (errorName: string, args: readonly unknown[] = []) => encodeErrorResult({ abi, errorName, args } as never)

describe('revert data', () => {
  test.each([
    ['a used nonce', data('UsedOrCanceledAuthorization'), 'authorization_used'],
    ['a lapsed window', data('ExpiredAuthorization'), 'authorization_expired'],
    ['a window not begun', data('InvalidAuthorization'), 'authorization_early'],
    ['a foreign signature', data('InvalidSignature'), 'signature_invalid'],
    ['an empty purse', data('ERC20InsufficientBalance', [wallet, 1n, 2n]), 'payer_short'],
    ['a missing approval', data('ERC20InsufficientAllowance', [wallet, 1n, 2n]), 'allowance_short'],
    ['too little collateral', data('InsufficientCollateral', [1n, 2n]), 'collateral_short'],
    ['a debt that was repaid', data('NothingOwed', [wallet]), 'nothing_due'],
    ['a permission that ended', data('AutoRepayNotAllowed', [wallet]), 'nothing_due'],
    ['a due date that moved', data('AutoRepayTooEarly', [1n]), 'nothing_due'],
    ['a bound that was reached', data('AutoRepayLimitReached', [1n]), 'nothing_due'],
    ['another content', data('RefConflict', [ref]), 'ref_conflict'],
    ['a hold that ended', data('NotHeld', [ref]), 'not_held'],
    ['a hold that lasts long enough', data('HoldNotExtendable', [ref]), 'not_extendable'],
    ['a pause', data('EnforcedPause'), 'paused'],
    ['a pause of the token', data('TransferPaused'), 'paused'],
    ['a pause of signatures', data('SignatureVerificationPaused'), 'paused'],
    ['a frozen user', data('AccountIsFrozen', [wallet]), 'user_frozen'],
    ['a frozen treasury', data('AccountIsFrozen', [treasury]), 'ours_frozen'],
    ['a frozen lane', data('AccountIsFrozen', [lane]), 'lane_frozen'],
    ['a missing role', data('AccessControlUnauthorizedAccount', [wallet, ref]), 'role_missing'],
    ['nothing', undefined, 'unknown'],
    ['no bytes', '0x', 'unknown'],
    ['an error of another contract', '0xdeadbeef', 'unknown'],
    ['half an error', data('RefConflict', [ref]).slice(0, 20) as Hex, 'unknown'],
  ] as const)('of %s is decoded', (_case, bytes, revert) => {
    expect(revertOf(bytes, [treasury], [lane])).toBe(revert)
  })
})

const strange = [
  'AccountFrozen',
  'AccountDefaulted',
  'NotVerified',
  'NotDefaulted',
  'TermPassed',
  'TermNotPassed',
  'LimitExceeded',
  'GasTooLow',
  'InsufficientLiquidity',
  'UnknownKind',
  'YieldTooLarge',
  'InvalidRecipient',
  'InvalidTerms',
  'OnlySelf',
  'ReentrancyGuardReentrantCall',
]

/** Only functions that no operation calls, and unused parts of libraries, have these errors. */
const notReached = [
  'AccessControlBadConfirmation',
  'ECDSAInvalidSignature',
  'ECDSAInvalidSignatureLength',
  'ECDSAInvalidSignatureS',
  'ERC20InvalidApprover',
  'ERC20InvalidSender',
  'ERC20InvalidSpender',
  'ERC2612ExpiredSignature',
  'ERC2612InvalidSigner',
  'ExpectedPause',
  'InvalidAccountNonce',
  'InvalidPayee',
  'InvalidShortString',
  'SafeCastOverflowedUintDowncast',
  'SafeERC20FailedOperation',
  'StringTooLong',
]

test('every error of the contracts has a meaning, or is known to have none', () => {
  const declared = abi.flatMap((item) => (item.type === 'error' ? [item.name as string] : []))
  expect([...errorNames.keys(), ...strange, ...notReached].sort()).toEqual([...new Set(declared)].sort())
})

describe('an operation that would revert', () => {
  test.each([
    ['take', 'authorization_used', 'look_up'],
    ['take', 'authorization_expired', 'look_up'],
    ['take', 'payer_short', 'fail'],
    ['send', 'payer_short', 'fail'],
    ['send', 'signature_invalid', 'fail'],
    ['return', 'payer_short', 'wait'],
    ['credit', 'payer_short', 'wait'],
    ['repay', 'payer_short', 'wait'],
    ['credit', 'allowance_short', 'wait'],
    ['autorepay', 'payer_short', 'fail'],
    ['autorepay', 'allowance_short', 'fail'],
    ['autorepay', 'collateral_short', 'fail'],
    ['autorepay', 'nothing_due', 'fail'],
    ['autorepay', 'user_frozen', 'fail'],
    ['credit', 'paused', 'wait'],
    ['verify', 'role_missing', 'wait'],
    ['credit', 'ref_conflict', 'fail'],
    ['revoke', 'not_held', 'fail'],
    ['extend', 'not_held', 'fail'],
    ['extend', 'not_extendable', 'fail'],
    ['freeze', 'role_missing', 'wait'],
    ['take', 'ours_frozen', 'wait'],
    ['take', 'user_frozen', 'fail'],
    ['return', 'user_frozen', 'wait'],
    ['credit', 'unknown', 'doubt'],
    ['drip', 'unknown', 'doubt'],
  ] as const)('%s, %s: %s', (kind, revert, step) => {
    expect(afterRevert(revert, payerOf(kind)).do).toBe(step)
  })

  test.each([
    ['NotHeld', 'not_held'],
    ['HoldNotExtendable', 'hold_not_extendable'],
  ])('with %s fails with the reason %s, without an alert', (error, reason) => {
    const step = afterRevert(revertOf(data(error, [ref]), []), payerOf('extend'))
    expect(step).toEqual({ do: 'fail', reason, alarm: false })
  })

  test.each(strange)('with %s is doubted', (errorName) => {
    const one = creditLineAbi.find((entry) => 'name' in entry && entry.name === errorName)!
    const args = (one as unknown as { inputs: readonly { type: string }[] }).inputs.map(({ type }) =>
      type === 'address' ? wallet : type === 'bytes32' ? ref : 1n,
    )
    expect(afterRevert(revertOf(data(errorName, args), []), payerOf('credit'))).toEqual({
      do: 'doubt',
    })
  })

  test('because its ref has other content raises an alert', () => {
    expect(afterRevert('ref_conflict', payerOf('credit'))).toMatchObject({ alarm: true })
  })
})

describe("the verdict on a node's response to a raw transaction", () => {
  test.each([
    [null, 'sent'],
    ['already known', 'sent'],
    ['transaction already imported', 'sent'],
    ['Transaction nonce too low', 'sent'],
    ['nonce too low: next nonce 5, tx nonce 4', 'sent'],
    ['A newer transaction had higher priority', 'sent'],
    ['An existing transaction had higher priority', 'underpriced'],
    ['Transaction fee too low', 'underpriced'],
    ['replacement transaction underpriced', 'underpriced'],
    ['max fee per gas less than block base fee', 'underpriced'],
    ['Signer had insufficient balance', 'unfunded'],
    ['insufficient funds for gas * price + value', 'unfunded'],
    ['Insufficient funds for gas * price + value', 'unfunded'],
    ['Gas limit too low', 'gas_too_low'],
    ['intrinsic gas too low', 'gas_too_low'],
    ['exceeds block gas limit', 'refused'],
    ['Exceeds transaction gas limit', 'refused'],
    ['Max priority fee too high', 'refused'],
    ['tx fee (1.63 ether) exceeds the configured cap (1.00 ether)', 'refused'],
    ['Transaction fee cap exceeded', 'refused'],
    ['Encoded length limit exceeded', 'refused'],
    ['Transaction signature is invalid', 'refused'],
    ['invalid chain id for signer', 'refused'],
    ['Transaction pool is full', 'unknown'],
    ['Transaction pool is not ready', 'unknown'],
    ['overloaded, try again later', 'unknown'],
    ['rejected', 'unknown'],
    ['rpc no longer tracking tx', 'unknown'],
    ['The request took too long to respond.', 'unknown'],
    ['fetch failed', 'unknown'],
    ['', 'unknown'],
    ['constructor', 'unknown'],
  ] as const)('for %p is %s', (answer, verdict) => {
    expect(verdictOnSend(answer)).toBe(verdict)
  })

  test('never leads to another nonce', () => {
    const next = Object.values(afterSend).map((one) => one.next)
    expect(new Set(next)).toEqual(new Set(['await', 'bump', 'raise_gas', 'send_soon', 'give_way']))
  })

  test('raises an alert exactly when waiting does not help', () => {
    const alarming = Object.entries(afterSend).flatMap(([verdict, { alarm }]) => (alarm ? [verdict] : []))
    expect(alarming.sort()).toEqual(['gas_too_low', 'refused', 'unfunded'])
  })
})
