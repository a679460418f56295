import { decodeErrorResult, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

/** Why a contract refuses, in the few words that lead to different decisions. */
export type Revert =
  | 'authorization_used'
  | 'authorization_expired'
  | 'authorization_early'
  | 'signature_invalid'
  | 'payer_short'
  | 'allowance_short'
  | 'ref_conflict'
  | 'not_held'
  | 'not_extendable'
  | 'content_refused'
  | 'paused'
  | 'role_missing'
  | 'unknown'

/** Error names of the credit line, of OpenZeppelin 5 and of Agora's token. */
const names = new Map<string, Revert>([
  ['UsedOrCanceledAuthorization', 'authorization_used'],
  ['ExpiredAuthorization', 'authorization_expired'],
  ['InvalidAuthorization', 'authorization_early'],
  ['InvalidSignature', 'signature_invalid'],
  ['ERC20InsufficientBalance', 'payer_short'],
  ['ERC20InsufficientAllowance', 'allowance_short'],
  ['RefConflict', 'ref_conflict'],
  ['NotHeld', 'not_held'],
  ['HoldNotExtendable', 'not_extendable'],
  ['ZeroRef', 'content_refused'],
  ['ZeroAddress', 'content_refused'],
  ['ZeroAmount', 'content_refused'],
  ['ZeroShares', 'content_refused'],
  ['ERC20InvalidReceiver', 'content_refused'],
  ['EnforcedPause', 'paused'],
  ['AccessControlUnauthorizedAccount', 'role_missing'],
])

const abi = [...ausdAbi, ...creditLineAbi] as const

/** Reads revert data; data we do not know, and none at all (out of gas), are `unknown`. */
export function revertOf(data: Hex | undefined): Revert {
  if (!data || data === '0x') return 'unknown'
  try {
    return names.get(decodeErrorResult({ abi, data }).errorName) ?? 'unknown'
  } catch {
    return 'unknown'
  }
}

/**
 * What to do about an operation that would revert. `look_up`: it may have been done already, the
 * chain's events tell. `wait`: a matter of time, a person may have to help. `doubt`: tried again a
 * few times, then given up. `fail`: it will never be done under this cause.
 */
export type AfterRevert =
  | { do: 'look_up' }
  | { do: 'wait'; alarm: boolean }
  | { do: 'doubt' }
  | { do: 'fail'; reason: string; alarm: boolean }

const wait = { do: 'wait', alarm: true } as const

const steps: { readonly [R in Revert]: AfterRevert } = {
  authorization_used: { do: 'look_up' },
  // The token checks the window first: an authorization may be both used and expired.
  authorization_expired: { do: 'look_up' },
  authorization_early: { do: 'wait', alarm: false },
  signature_invalid: { do: 'fail', reason: 'signature_invalid', alarm: false },
  payer_short: { do: 'fail', reason: 'balance_too_low', alarm: false },
  allowance_short: wait,
  ref_conflict: { do: 'fail', reason: 'ref_conflict', alarm: true },
  not_held: { do: 'fail', reason: 'not_held', alarm: false },
  // It was put off by a day already, which is the most there is.
  not_extendable: { do: 'fail', reason: 'hold_not_extendable', alarm: false },
  content_refused: { do: 'fail', reason: 'content_refused', alarm: true },
  paused: wait,
  role_missing: wait,
  unknown: { do: 'doubt' },
}

/** A treasury that is short for a while is no reason to give up on money that was promised. */
export const afterRevert = (revert: Revert, payer: 'treasury' | 'user'): AfterRevert =>
  revert === 'payer_short' && payer === 'treasury' ? wait : steps[revert]

/** An operation that reverted this often without an explanation has failed. */
export const doubtsMax = 5
