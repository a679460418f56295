import {
  type AbiFunction,
  type DecodeFunctionDataReturnType,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  keccak256,
  multicall3Abi,
  stringToHex,
  toFunctionSelector,
} from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { encoderOf } from '#shared/chain/encoder'
import type { AuthorizationTerms, TokenDomain } from '#shared/chain/erc3009'
import { opKinds } from '#shared/chain/gas'
import { refOf } from '#shared/chain/ref'

// The policy decides from the decoded bytes, never from the order, which may come from a
// compromised service. Everything not listed here is refused.

/** Kinds of spending that have limits, in 10⁻⁶ AUSD or, for a drip, in wei. */
export const spendings = ['credit', 'repay', 'return', 'drip'] as const
export type Spending = (typeof spendings)[number]

/** Limits of a key: `most` per operation, `day` per UTC day. */
export type KeyLimit = { readonly most: bigint; readonly day: bigint }

export type Policy = {
  readonly chainId: number
  readonly ausd: Hex
  readonly creditLine: Hex
  readonly limits: { readonly [S in Spending]: KeyLimit }
}

type Settings = {
  readonly [N in
    | 'creditMaxAusd'
    | 'creditDayMaxAusd'
    | 'repayMaxAusd'
    | 'repayDayMaxAusd'
    | 'returnMaxAusd'
    | 'returnDayMaxAusd'
    | 'dripWei'
    | 'dripDayMaxWei']: bigint
} & { readonly chainId: number; readonly ausdAddress: Hex; readonly creditLineAddress: Hex }

export function policyOf(config: Settings): Policy {
  const limit = (mostAusd: bigint, dayAusd: bigint): KeyLimit => ({
    most: mostAusd * 1_000_000n,
    day: dayAusd * 1_000_000n,
  })
  return {
    chainId: config.chainId,
    ausd: config.ausdAddress,
    creditLine: config.creditLineAddress,
    limits: {
      credit: limit(config.creditMaxAusd, config.creditDayMaxAusd),
      repay: limit(config.repayMaxAusd, config.repayDayMaxAusd),
      return: limit(config.returnMaxAusd, config.returnDayMaxAusd),
      drip: { most: config.dripWei, day: config.dripDayMaxWei },
    },
  }
}

/** An amount to count. The chain executes an `identity` once, however often it is signed. */
export type Spend = {
  readonly spending: Spending
  readonly identity: Hex
  readonly amount: bigint
}

/** Reason for a refusal. One by a `limit` may pass on the next day or with a higher limit. */
export type PolicyRefusal = { readonly why: string; readonly by: 'never' | 'limit' }

export class PolicyRefused extends Error {
  override name = 'PolicyRefused'
  constructor(readonly refusal: PolicyRefusal) {
    super(refusal.why)
  }
}

const never = (why: string): PolicyRefused => new PolicyRefused({ why, by: 'never' })

export const overLimit = (why: string): PolicyRefused => new PolicyRefused({ why, by: 'limit' })

export type CallContent = { readonly to: Hex; readonly data: Hex; readonly valueWei: bigint }

export function spendsOfCall(policy: Policy, nonce: number, { to, data, valueWei }: CallContent): Spend[] {
  const isOf = (contract: Hex) => to.toLowerCase() === contract.toLowerCase()
  const isContract = isOf(policy.creditLine) || isOf(policy.ausd) || isOf(multicall3)
  if (isContract && valueWei !== 0n) throw never('native coin sent to a contract')
  const spends = isOf(policy.creditLine)
    ? spendsOnLine(data)
    : isOf(policy.ausd)
      ? spendsOnToken(data)
      : isOf(multicall3)
        ? spendsOnBundle(policy, data)
        : spendsOnPayment(nonce, to, data, valueWei)
  return spends.map((spend) => withinMost(policy, spend))
}

// guard: a return has one nonce, so that the token refuses a second
export const returnNonce = (payoutId: string): Hex => refOf(`return:${payoutId}`)

export type FinalTake = {
  readonly payoutId: string
  readonly moved: Pick<AuthorizationTerms, 'from' | 'to' | 'value'>
  readonly ageSeconds: bigint
}

/**
 * Age in seconds from which the return of a take counts against the limits. A compromised payouts service could
 * otherwise have old takes returned without limit.
 */
export const takeAgeMaxSeconds = 7n * 24n * 60n * 60n

/**
 * Returns the amounts that a signed transfer counts against a daily limit. A return to the wallet of its final take, of
 * no more than was taken, costs the treasury nothing and counts none. The limit per operation applies to it too.
 */
export function spendsOfTransfer(policy: Policy, treasury: Hex, { domain, terms, take }: TreasuryTransfer): Spend[] {
  const { from, to, value, nonce } = terms
  if (domain.verifyingContract.toLowerCase() !== policy.ausd.toLowerCase())
    throw never(`a transfer of the token ${domain.verifyingContract}`)
  // guard: the treasury signs transfers of AUSD, on our chain, from itself
  if (domain.chainId !== policy.chainId) throw never(`a transfer on the chain ${domain.chainId}`)
  if (from.toLowerCase() !== treasury.toLowerCase()) throw never(`a transfer from ${from}`)
  // A return may be signed again with a later expiry, because the token executes its nonce once.
  const spend = { identity: hashOf(to, value, nonce), amount: BigInt(value) }
  const counted = withinMost(policy, { spending: 'return', ...spend })
  return take && undoes(terms, take, treasury) ? [] : [counted]
}

/** A transfer by the treasury, where `take` is the final take that it returns, if one is proven. */
export type TreasuryTransfer = {
  readonly domain: TokenDomain
  readonly terms: AuthorizationTerms
  readonly take?: FinalTake | undefined
}

const undoes = (
  { to, value, nonce }: AuthorizationTerms,
  { payoutId, moved, ageSeconds }: FinalTake,
  treasury: Hex,
): boolean =>
  nonce === returnNonce(payoutId) &&
  moved.to.toLowerCase() === treasury.toLowerCase() &&
  moved.from.toLowerCase() === to.toLowerCase() &&
  BigInt(value) <= BigInt(moved.value) &&
  ageSeconds <= takeAgeMaxSeconds

function withinMost({ limits }: Policy, spend: Spend): Spend {
  const { most } = limits[spend.spending]
  // guard: a key signs no more in one operation than its limit
  if (spend.amount <= most) return spend
  throw overLimit(`${spend.spending} of ${spend.amount} exceeds the limit of ${most}`)
}

function spendsOnPayment(nonce: number, to: Hex, data: Hex, amount: bigint): Spend[] {
  // guard: a lane calls only our contracts, and only their functions for it
  if (data !== '0x') throw never(`a call of ${to}`)
  // Only the nonce prevents a second drip, so it is part of the identity.
  return amount === 0n ? [] : [{ spending: 'drip', identity: hashOf(to, amount, nonce), amount }]
}

const hashOf = (...parts: readonly (string | bigint | number)[]): Hex =>
  keccak256(stringToHex(parts.join(':').toLowerCase()))

/**
 * Returns what a call of the token spends: nothing, because the payer has signed the transfer. The treasury's own
 * signatures have limits of their own.
 */
function spendsOnToken(data: Hex): Spend[] {
  const { functionName, args } = decoded(ausdAbi, data)
  // The length selects the overload with a `bytes` signature.
  if (functionName !== 'transferWithAuthorization' || args?.length !== 7) throw never(`${functionName} of the token`)
  return []
}

function spendsOnBundle({ ausd }: Policy, data: Hex): Spend[] {
  const { functionName, args } = decoded(multicall3Abi, data)
  if (functionName !== 'aggregate3') throw never(`${functionName} of Multicall3`)
  return args[0].flatMap(({ target, allowFailure, callData }) => {
    if (target.toLowerCase() !== ausd.toLowerCase()) throw never(`a bundled call of ${target}`)
    if (!allowFailure) throw never('a bundled call that reverts the others')
    return spendsOnToken(callData)
  })
}

function spendsOnLine(data: Hex): Spend[] {
  const call = decoded(creditLineAbi, data)
  switch (call.functionName) {
    case 'topUp':
      return [{ spending: 'credit', identity: keccak256(data), amount: call.args[2] }]
    case 'repayFor':
      return [{ spending: 'repay', identity: keccak256(data), amount: call.args[2] }]
    case 'revokeTopUp':
    case 'revokeRepayment':
    case 'extendHold':
    case 'setVerified':
    case 'setFrozen':
    case 'autoRepay':
      return []
    case 'many':
      return call.args[0].flatMap((op) => spendsOnLine(asAlone(op)))
    default:
      throw never(`${call.functionName} of the credit line`)
  }
}

type Op = { kind: number; ref: Hex; account: Hex; amount: bigint; paidAt: bigint }

/** Encodes an element of `many` as a single call, so that both have the same identity. */
function asAlone({ kind, ref, account, amount, paidAt }: Op): Hex {
  switch (kind) {
    case opKinds.topUp:
    case opKinds.heldTopUp: {
      const args = [ref, account, amount, kind === opKinds.heldTopUp] as const
      return encodeLine('topUp', args)
    }
    case opKinds.repayFor:
    case opKinds.heldRepayFor: {
      const args = [ref, account, amount, kind === opKinds.heldRepayFor, paidAt] as const
      return encodeLine('repayFor', args)
    }
    case opKinds.revokeTopUp:
      return encodeLine('revokeTopUp', [ref, amount])
    case opKinds.revokeRepayment:
      return encodeLine('revokeRepayment', [ref, amount])
    case opKinds.extendHold:
      return encodeLine('extendHold', [ref])
    default:
      throw never(`an operation of kind ${kind} in many`)
  }
}

const encodeLine = encoderOf(creditLineAbi)

type OurAbi = typeof ausdAbi | typeof creditLineAbi | typeof multicall3Abi

/** Functions by selector, computed once because viem would hash all selectors for every call. */
const functions = new Map<OurAbi, ReadonlyMap<string, AbiFunction>>(
  [ausdAbi, creditLineAbi, multicall3Abi].map((abi) => [
    abi,
    new Map(abi.flatMap((item) => (item.type === 'function' ? [[toFunctionSelector(item), item] as const] : []))),
  ]),
)

/**
 * Decodes call data. Refuses data that do not encode to the same bytes again, because the contract might read them
 * differently.
 */
function decoded<const abi extends OurAbi>(abi: abi, data: Hex): DecodeFunctionDataReturnType<abi> {
  const selector = data.slice(0, 10).toLowerCase()
  const item = functions.get(abi)!.get(selector)
  try {
    if (item) {
      const { inputs, name: functionName } = item
      const args = inputs.length === 0 ? [] : decodeAbiParameters(inputs, `0x${data.slice(10)}`)
      const encoded = selector + encodeAbiParameters(inputs, args).slice(2)
      if (encoded === data.toLowerCase()) return { functionName, args } as never
    }
  } catch {}
  throw never(`call data ${data.slice(0, 10)} that our contracts do not have or read differently`)
}
