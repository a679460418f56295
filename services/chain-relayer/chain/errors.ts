import { BaseError, decodeAbiParameters, type Hex, toFunctionSelector } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

export type Revert =
  | 'authorization_used'
  | 'authorization_expired'
  | 'authorization_early'
  | 'signature_invalid'
  | 'payer_short'
  | 'allowance_short'
  | 'collateral_short'
  | 'nothing_due'
  | 'ref_conflict'
  | 'not_held'
  | 'not_extendable'
  | 'content_refused'
  | 'paused'
  | 'ours_frozen'
  | 'lane_frozen'
  | 'user_frozen'
  | 'role_missing'
  | 'unknown'

/** Names of the credit line, OpenZeppelin 5 and Agora's token. */
export const errorNames: ReadonlyMap<string, Revert> = new Map<string, Revert>([
  ['UsedOrCanceledAuthorization', 'authorization_used'],
  ['ExpiredAuthorization', 'authorization_expired'],
  ['InvalidAuthorization', 'authorization_early'],
  ['InvalidSignature', 'signature_invalid'],
  ['ERC20InsufficientBalance', 'payer_short'],
  ['ERC20InsufficientAllowance', 'allowance_short'],
  ['InsufficientCollateral', 'collateral_short'],
  ['NothingOwed', 'nothing_due'],
  ['AutoRepayNotAllowed', 'nothing_due'],
  ['AutoRepayTooEarly', 'nothing_due'],
  ['AutoRepayLimitReached', 'nothing_due'],
  ['RefConflict', 'ref_conflict'],
  ['NotHeld', 'not_held'],
  ['HoldNotExtendable', 'not_extendable'],
  ['ZeroRef', 'content_refused'],
  ['ZeroAddress', 'content_refused'],
  ['ZeroAmount', 'content_refused'],
  ['ZeroShares', 'content_refused'],
  ['ERC20InvalidReceiver', 'content_refused'],
  ['EnforcedPause', 'paused'],
  ['TransferPaused', 'paused'],
  ['SignatureVerificationPaused', 'paused'],
  ['AccountIsFrozen', 'user_frozen'],
  ['AccessControlUnauthorizedAccount', 'role_missing'],
])

type ErrorItem = Extract<(typeof ausdAbi | typeof creditLineAbi)[number], { type: 'error' }>

/** Errors by selector, computed once because viem would hash the selectors on every lookup. */
const errors = new Map<string, ErrorItem>(
  [...ausdAbi, ...creditLineAbi].flatMap((item) => (item.type === 'error' ? [[selectorOf(item), item] as const] : [])),
)
function selectorOf({ name, inputs }: ErrorItem): Hex {
  return toFunctionSelector(`${name}(${inputs.map(({ type }) => type).join()})`)
}

/**
 * Returns the reason in the revert data, or `unknown` if there are none (out of gas). `ours` lists the accounts whose
 * freeze by the issuer is not the user's, and `lanes` those of them that only send the transaction.
 */
export function revertOf(data: Hex | undefined, ours: readonly Hex[], lanes: readonly Hex[] = []): Revert {
  if (!data || data === '0x') return 'unknown'
  try {
    const error = errors.get(data.slice(0, 10).toLowerCase())
    if (!error) return 'unknown'
    const { name, inputs } = error
    const args = inputs.length === 0 ? [] : decodeAbiParameters(inputs, `0x${data.slice(10)}`)
    if (name === 'AccountIsFrozen' && isOneOf(lanes, args[0] as Hex)) return 'lane_frozen'
    if (name === 'AccountIsFrozen' && isOneOf(ours, args[0] as Hex)) return 'ours_frozen'
    return errorNames.get(name) ?? 'unknown'
  } catch {
    return 'unknown'
  }
}

const isOneOf = (accounts: readonly Hex[], account: Hex): boolean =>
  accounts.some((one) => one.toLowerCase() === account.toLowerCase())

/**
 * Next step for an operation that would revert. `look_up`: it may already be done. `wait`: the obstacle is temporary;
 * with `otherLane`, another instance may have a lane without it. `doubt`: retry a few times, then fail.
 */
export type AfterRevert =
  | { do: 'look_up' }
  | { do: 'wait'; alarm: boolean; otherLane?: true }
  | { do: 'doubt' }
  | { do: 'fail'; reason: string; alarm: boolean }

const wait = { do: 'wait', alarm: true } as const

const steps: { readonly [R in Revert]: AfterRevert } = {
  authorization_used: { do: 'look_up' },
  // The token checks the time window first, so an expired authorization may also be used.
  authorization_expired: { do: 'look_up' },
  authorization_early: { do: 'wait', alarm: false },
  signature_invalid: { do: 'fail', reason: 'signature_invalid', alarm: false },
  payer_short: { do: 'fail', reason: 'balance_too_low', alarm: false },
  allowance_short: wait,
  collateral_short: { do: 'fail', reason: 'collateral_too_low', alarm: false },
  nothing_due: { do: 'fail', reason: 'nothing_due', alarm: false },
  ref_conflict: { do: 'fail', reason: 'ref_conflict', alarm: true },
  not_held: { do: 'fail', reason: 'not_held', alarm: false },
  // The contract extends a hold by at most one day.
  not_extendable: { do: 'fail', reason: 'hold_not_extendable', alarm: false },
  content_refused: { do: 'fail', reason: 'content_refused', alarm: true },
  paused: wait,
  ours_frozen: wait,
  lane_frozen: { ...wait, otherLane: true },
  user_frozen: { do: 'fail', reason: 'account_frozen', alarm: false },
  role_missing: { ...wait, otherLane: true },
  unknown: { do: 'doubt' },
}

/**
 * Returns the next step. Treasury money that was promised waits while the treasury is short or the issuer has frozen
 * the receiver.
 */
export function afterRevert(revert: Revert, payer: 'treasury' | 'user'): AfterRevert {
  if (payer === 'treasury') return revert === 'payer_short' || revert === 'user_frozen' ? wait : steps[revert]
  return revert === 'allowance_short' ? { do: 'fail', reason: 'allowance_too_low', alarm: false } : steps[revert]
}

export const doubtsMax = 5

/** Returns the text of an error without viem's wrapping, which would repeat the request. */
export function errorTextOf(error: unknown): string {
  if (error instanceof BaseError) return `${error.details || error.shortMessage}`
  return error instanceof Error ? error.message : String(error)
}

/**
 * Meaning of a node's response to a raw transaction. No verdict frees the nonce: one node may refuse a transaction that
 * another has accepted.
 */
export type SendVerdict = 'sent' | 'underpriced' | 'gas_too_low' | 'unfunded' | 'refused' | 'unknown'

/**
 * Messages of Monad, geth and anvil, of which the first match decides. Codes differ between nodes and versions (Monad:
 * nearly always -32603). Sources: monad-eth-txpool-types `as_user_string`; go-ethereum core/txpool/errors.go.
 */
const errorTexts: readonly (readonly [RegExp, SendVerdict])[] = [
  [/already (known|imported|exists)|known transaction|transaction already/i, 'sent'],
  // One of our own attempts most likely used the nonce; finality decides.
  [/nonce (is )?too low|old nonce|newer transaction had higher priority/i, 'sent'],
  // The total of the fees, which a bump would only raise. What follows the noop is sent alone, for less.
  [/exceeds the configured cap|fee cap exceeded/i, 'refused'],
  [/fee too low|underpriced|gas price too low|existing transaction had higher priority/i, 'underpriced'],
  [/less than (the )?block base fee|fee ?cap|max fee per gas (is )?(too low|less)/i, 'underpriced'],
  [/insufficient (funds|balance)|signer had insufficient|out of funds/i, 'unfunded'],
  [/gas limit too low|intrinsic gas too low/i, 'gas_too_low'],
  [/exceeds (the )?(block |transaction )?gas limit|gas limit too high|chain ?id|invalid sender/i, 'refused'],
  [/oversized|malformed|could not decode|failed to decode|rlp:|length limit exceeded/i, 'refused'],
  [/signature is invalid|priority fee (is )?too high/i, 'refused'],
]

/**
 * Returns the verdict on a node's message. An unrecognised message does not prove that the transaction was not sent, so
 * it is `unknown`.
 */
export const verdictOnSend = (errorText: string | null): SendVerdict =>
  errorText === null ? 'sent' : (errorTexts.find(([form]) => form.test(errorText))?.[1] ?? 'unknown')

/** Next step after each verdict. `give_way` means that the bytes will never be accepted, so a noop takes the nonce. */
export const afterSend: {
  readonly [V in SendVerdict]: {
    next: 'await' | 'send_soon' | 'bump' | 'raise_gas' | 'give_way'
    alarm: boolean
  }
} = {
  sent: { next: 'await', alarm: false },
  underpriced: { next: 'bump', alarm: false },
  gas_too_low: { next: 'raise_gas', alarm: true },
  unfunded: { next: 'await', alarm: true },
  refused: { next: 'give_way', alarm: true },
  unknown: { next: 'send_soon', alarm: false },
}
