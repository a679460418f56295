import { BaseError, decodeAbiParameters, type Hex, toFunctionSelector } from 'viem'
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
  | 'ours_frozen'
  | 'user_frozen'
  | 'role_missing'
  | 'unknown'

/** Error names of the credit line, of OpenZeppelin 5 and of Agora's token. */
const errorNames = new Map<string, Revert>([
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
  ['TransferPaused', 'paused'],
  ['SignatureVerificationPaused', 'paused'],
  ['AccountIsFrozen', 'user_frozen'],
  ['AccessControlUnauthorizedAccount', 'role_missing'],
])

type ErrorItem = Extract<(typeof ausdAbi | typeof creditLineAbi)[number], { type: 'error' }>

/**
 * The errors by their selectors: viem would hash one after the other until it finds the right one.
 */
const errors = new Map<string, ErrorItem>(
  [...ausdAbi, ...creditLineAbi].flatMap((item) =>
    item.type === 'error' ? [[selectorOf(item), item] as const] : [],
  ),
)
function selectorOf({ name, inputs }: ErrorItem): Hex {
  return toFunctionSelector(`${name}(${inputs.map(({ type }) => type).join()})`)
}

/**
 * Reads revert data; data we do not know, and none at all (out of gas), are `unknown`. `ours` are
 * the accounts of the service itself: one of them frozen by the token's issuer is no fault of a
 * user's.
 */
export function revertOf(data: Hex | undefined, ours: readonly Hex[]): Revert {
  if (!data || data === '0x') return 'unknown'
  try {
    const error = errors.get(data.slice(0, 10).toLowerCase())
    if (!error) return 'unknown'
    const { name, inputs } = error
    const args = inputs.length === 0 ? [] : decodeAbiParameters(inputs, `0x${data.slice(10)}`)
    if (name === 'AccountIsFrozen' && isOneOf(ours, args[0] as Hex)) return 'ours_frozen'
    return errorNames.get(name) ?? 'unknown'
  } catch {
    return 'unknown'
  }
}

const isOneOf = (accounts: readonly Hex[], account: Hex): boolean =>
  accounts.some((one) => one.toLowerCase() === account.toLowerCase())

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
  ours_frozen: wait,
  user_frozen: { do: 'fail', reason: 'account_frozen', alarm: false },
  role_missing: wait,
  unknown: { do: 'doubt' },
}

/**
 * A treasury that is short for a while is no reason to give up on money that was promised, and
 * neither is a receiver whom the issuer has frozen.
 */
export const afterRevert = (revert: Revert, payer: 'treasury' | 'user'): AfterRevert =>
  payer === 'treasury' && (revert === 'payer_short' || revert === 'user_frozen')
    ? wait
    : steps[revert]

/** An operation that reverted this often without an explanation has failed. */
export const doubtsMax = 5

/** The node's own words, without viem's wrapping, which would repeat the request. */
export function textOf(error: unknown): string {
  if (error instanceof BaseError) return `${error.details || error.shortMessage}`
  return error instanceof Error ? error.message : String(error)
}

/**
 * What a node's answer to `eth_sendRawTransaction` means. None of them frees the nonce: even a
 * refusal may come from one node while another has the transaction.
 */
export type SendVerdict =
  | 'sent'
  | 'underpriced'
  | 'gas_too_low'
  | 'unfunded'
  | 'refused'
  | 'unknown'

/**
 * Words of Monad (code -32603 for nearly all of them), geth and anvil; codes differ between nodes
 * and versions, so only the words count. First match decides.
 * Source: monad-eth-txpool-types `as_user_string`; go-ethereum core/txpool/errors.go.
 */
const errorTexts: readonly (readonly [RegExp, SendVerdict])[] = [
  [/already (known|imported|exists)|known transaction|transaction already/i, 'sent'],
  // The nonce is taken, most likely by one of our own attempts; finality will tell.
  [/nonce (is )?too low|old nonce|newer transaction had higher priority/i, 'sent'],
  [
    /fee too low|underpriced|gas price too low|existing transaction had higher priority/i,
    'underpriced',
  ],
  [/less than (the )?block base fee|fee ?cap|max fee per gas (is )?(too low|less)/i, 'underpriced'],
  [/insufficient (funds|balance)|signer had insufficient|out of funds/i, 'unfunded'],
  [/gas limit too low|intrinsic gas too low/i, 'gas_too_low'],
  [
    /exceeds (the )?(block |transaction )?gas limit|gas limit too high|chain ?id|invalid sender/i,
    'refused',
  ],
  [/oversized|malformed|could not decode|failed to decode|rlp:|length limit exceeded/i, 'refused'],
  [/signature is invalid|priority fee (is )?too high/i, 'refused'],
]

/** Reads an error text; a text nobody foresaw means that the transaction may have been sent. */
export const verdictOnSend = (errorText: string | null): SendVerdict =>
  errorText === null
    ? 'sent'
    : (errorTexts.find(([form]) => form.test(errorText))?.[1] ?? 'unknown')

/**
 * What to do next at the same nonce, and whether a person has to know. `give_way`: these bytes will
 * never be taken, so they are not sent again, and something else is to use up the nonce.
 */
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
