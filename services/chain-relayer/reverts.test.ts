import { describe, expect, test } from 'bun:test'
import { encodeErrorResult, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { fateOf, revertOf } from './reverts'

const ref: Hex = `0x${'11'.repeat(32)}`
const wallet: Hex = `0x${'22'.repeat(20)}`
const abi = [...ausdAbi, ...creditLineAbi] as const
const data = (errorName: string, args: readonly unknown[] = []) =>
  encodeErrorResult({ abi, errorName, args } as never)

describe('revert data', () => {
  test.each([
    ['a used nonce', data('UsedOrCanceledAuthorization'), 'authorization_used'],
    ['a lapsed window', data('ExpiredAuthorization'), 'authorization_expired'],
    ['a window not begun', data('InvalidAuthorization'), 'authorization_early'],
    ['a foreign signature', data('InvalidSignature'), 'signature_invalid'],
    ['an empty purse', data('ERC20InsufficientBalance', [wallet, 1n, 2n]), 'payer_short'],
    ['a missing approval', data('ERC20InsufficientAllowance', [wallet, 1n, 2n]), 'allowance_short'],
    ['another content', data('RefConflict', [ref]), 'ref_conflict'],
    ['a hold that ended', data('NotHeld', [ref]), 'not_held'],
    ['a pause', data('EnforcedPause'), 'paused'],
    ['a missing role', data('AccessControlUnauthorizedAccount', [wallet, ref]), 'role_missing'],
    ['nothing', undefined, 'unknown'],
    ['no bytes', '0x', 'unknown'],
    ['an error of another contract', '0xdeadbeef', 'unknown'],
    ['half an error', data('RefConflict', [ref]).slice(0, 20) as Hex, 'unknown'],
  ] as const)('of %s is understood', (_case, bytes, revert) => {
    expect(revertOf(bytes)).toBe(revert)
  })
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
    ['credit', 'paused', 'wait'],
    ['verify', 'role_missing', 'wait'],
    ['credit', 'ref_conflict', 'fail'],
    ['revoke', 'not_held', 'fail'],
    ['credit', 'unknown', 'doubt'],
    ['drip', 'unknown', 'doubt'],
  ] as const)('%s, %s: %s', (kind, revert, fate) => {
    expect(fateOf(kind, revert).do).toBe(fate)
  })

  test('because its ref names something else calls a person', () => {
    expect(fateOf('credit', 'ref_conflict')).toMatchObject({ alarm: true })
  })
})
