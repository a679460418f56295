import { encodeErrorResult, type Hex, toFunctionSelector, zeroAddress, zeroHash } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

// The call data are simple to decode: every argument of our contracts is one 32-byte word.

export type Op =
  | {
      readonly kind: 'credit' | 'repay'
      readonly ref: Hex
      readonly wallet: Hex
      readonly amount: bigint
      readonly held: boolean
      /** Time of the payment in Unix seconds; 0 for a top-up. */
      readonly paidAt: bigint
    }
  | { readonly kind: 'revoke'; readonly of: 'credit' | 'repay'; readonly ref: Hex; readonly left: bigint }
  | { readonly kind: 'extend'; readonly ref: Hex }
  | { readonly kind: 'verified' | 'frozen'; readonly wallet: Hex; readonly value: boolean }
  | { readonly kind: 'transfer' | 'cancel'; readonly terms: Transfer }
  | { readonly kind: 'native'; readonly to: Hex; readonly wei: bigint }
  | { readonly kind: 'pause' | 'unpause' }
  | LineOp
  | AccountOp

type SumOp = { readonly kind: 'draw' | 'repay own' | 'withdraw'; readonly wallet: Hex; readonly amount: bigint }
/** Calls that the state of an account decides. Anyone may default an overdue account, and seize its later collateral. */
export type AccountOp = SumOp | { readonly kind: 'autorepay' | 'default' | 'seize'; readonly wallet: Hex }

/** What users do with their own credit line and AUSD, and the issuer of AUSD with a wallet. Amounts are in 10⁻⁶ AUSD. */
export type LineOp =
  | SumOp
  /** A deposit is a top-up that no row of ours knows. */
  | { readonly kind: 'approve' | 'deposit'; readonly wallet: Hex; readonly amount: bigint }
  | { readonly kind: 'allow'; readonly wallet: Hex; readonly max: bigint; readonly fromCollateral: boolean }
  | { readonly kind: 'frozen by the issuer'; readonly wallet: Hex; readonly value: boolean }

export type Transfer = {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

const abi = [...ausdAbi, ...creditLineAbi] as const
type ErrorItem = Extract<(typeof abi)[number], { type: 'error' }>
/** A revert by its name in the contracts, or one without data. */
export type CallRefusal = ErrorItem['name'] | 'out of gas'

const plain: Readonly<Record<string, unknown>> = { address: zeroAddress, bytes32: zeroHash, string: '' }
const dataOf = new Map<CallRefusal, Hex>(
  abi.flatMap((item) => {
    if (item.type !== 'error') return []
    const args = item.inputs.map(({ type }) => plain[type] ?? 0n)
    return [[item.name, encodeErrorResult({ abi: [item], errorName: item.name, args } as never)] as const]
  }),
)

/** Returns the data of a refusal, or undefined as when gas runs out. Their arguments are zero. */
export const revertData = (refusal: CallRefusal): Hex | undefined => dataOf.get(refusal)

const selectorOf = (name: string, inputs?: number): string => {
  const item = abi.find(
    (one) => one.type === 'function' && one.name === name && (inputs === undefined || one.inputs.length === inputs),
  )
  return toFunctionSelector(item as never)
}
const selectors = {
  many: selectorOf('many'),
  topUp: selectorOf('topUp'),
  repayFor: selectorOf('repayFor'),
  revokeTopUp: selectorOf('revokeTopUp'),
  revokeRepayment: selectorOf('revokeRepayment'),
  extendHold: selectorOf('extendHold'),
  setVerified: selectorOf('setVerified'),
  setFrozen: selectorOf('setFrozen'),
  autoRepay: selectorOf('autoRepay'),
  transfer: selectorOf('transferWithAuthorization', 7),
  authorizationState: selectorOf('authorizationState'),
}

const wordAt = (data: Hex, at: number): string => data.slice(10 + 64 * at, 74 + 64 * at)
const hexAt = (data: Hex, at: number): Hex => `0x${wordAt(data, at)}`
const addressAt = (data: Hex, at: number): Hex => `0x${wordAt(data, at).slice(24)}`
const numberAt = (data: Hex, at: number): bigint => BigInt(`0x${wordAt(data, at)}`)

/** Kinds of operations by the contract's `Op.kind`. */
const kindsOfMany = [
  { kind: 'credit', held: false },
  { kind: 'credit', held: true },
  { kind: 'repay', held: false },
  { kind: 'revoke', of: 'credit' },
  { kind: 'repay', held: true },
  { kind: 'revoke', of: 'repay' },
  { kind: 'extend' },
] as const

export function opsOf(to: Hex, data: Hex, wei: bigint): Op[] {
  if (data === '0x') return wei === 0n ? [] : [{ kind: 'native', to, wei }]
  if (to.toLowerCase() === multicall3.toLowerCase()) throw new Error('bundles are not supported')
  const ref = hexAt(data, 0)
  switch (data.slice(0, 10)) {
    case selectors.many:
      return Array.from({ length: Number(numberAt(data, 1)) }, (_, at) => opInMany(data, 2 + 5 * at))
    case selectors.topUp:
    case selectors.repayFor: {
      const kind = data.startsWith(selectors.topUp) ? 'credit' : 'repay'
      const held = numberAt(data, 3) === 1n
      const paidAt = kind === 'repay' ? numberAt(data, 4) : 0n
      return [{ kind, ref, wallet: addressAt(data, 1), amount: numberAt(data, 2), held, paidAt }]
    }
    case selectors.revokeTopUp:
    case selectors.revokeRepayment: {
      const of = data.startsWith(selectors.revokeTopUp) ? 'credit' : 'repay'
      return [{ kind: 'revoke', of, ref, left: numberAt(data, 1) }]
    }
    case selectors.extendHold:
      return [{ kind: 'extend', ref }]
    case selectors.setVerified:
    case selectors.setFrozen: {
      const kind = data.startsWith(selectors.setVerified) ? 'verified' : 'frozen'
      return [{ kind, wallet: addressAt(data, 0), value: numberAt(data, 1) === 1n }]
    }
    case selectors.autoRepay:
      return [{ kind: 'autorepay', wallet: addressAt(data, 0) }]
    case selectors.transfer:
      return [{ kind: 'transfer', terms: transferOf(data) }]
    default:
      throw new Error(`the simulated chain does not support ${data.slice(0, 10)}`)
  }
}

function opInMany(data: Hex, from: number): Op {
  const one = kindsOfMany[Number(numberAt(data, from))]!
  const ref = hexAt(data, from + 1)
  const amount = numberAt(data, from + 3)
  if (one.kind === 'extend') return { ...one, ref }
  if (one.kind === 'revoke') return { ...one, ref, left: amount }
  return { ...one, ref, wallet: addressAt(data, from + 2), amount, paidAt: numberAt(data, from + 4) }
}

const transferOf = (data: Hex): Transfer => ({
  from: addressAt(data, 0),
  to: addressAt(data, 1),
  value: numberAt(data, 2),
  validAfter: numberAt(data, 3),
  validBefore: numberAt(data, 4),
  nonce: hexAt(data, 5),
})

export const askedState = (data: Hex): { from: Hex; nonce: Hex } | undefined =>
  data.startsWith(selectors.authorizationState) ? { from: addressAt(data, 0), nonce: hexAt(data, 1) } : undefined
