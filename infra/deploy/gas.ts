import { type Address, encodeFunctionData, type Hex, keccak256, toHex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { typedTransfer } from '#shared/chain/erc3009'
import { gasLimits } from '#shared/chain/gas'
import type { Facts } from './facts'
import { type Node, textOf } from './node'
import type { Signers, Wanted } from './wanted'

// The relayer sends with fixed gas limits, measured on another chain with a stand-in token. Before
// anything depends on them, the chain itself is asked what such transactions take, for accounts that
// it has never seen: nothing is sent for it.

/** What can be estimated on a credit line that nobody has used; the rest needs debts and holds. */
const estimable = [
  'topUp',
  'heldTopUp',
  'repayFor',
  'heldRepayFor',
  'setVerified',
  'setFrozen',
  'transferWithAuthorization',
  'nativeTransfer',
] as const
type Estimable = (typeof estimable)[number]
export type GasLimits = Readonly<Record<Estimable, bigint>>
/** Gas by function; a text where the chain would not estimate it. */
export type Estimates = ReadonlyMap<Estimable, bigint | string>

/** Somebody whom the chain has never seen. */
const stranger = (salt: string): Address => `0x${keccak256(toHex(salt)).slice(-40)}`
/** A millionth of an AUSD; whoever puts the signed one on the chain gives it to our own lane. */
const micro = 1n
const validSeconds = 60

/** Asks the chain, once all is in place. */
export async function estimateGas(
  { reader }: Node,
  { token, line, treasury, lanes }: Facts,
  wanted: Wanted,
  signers: Signers,
): Promise<Estimates> {
  const lane = lanes[0]?.address
  if (!token?.domain || !line || !lane) throw new Error('gas is estimated once all is in place')
  const salt = `${line.address} ${Date.now()}`
  const [ref, account] = [keccak256(toHex(salt)), stranger(salt)]
  const transfer = async (): Promise<Hex> => {
    const now = Number((await reader.getBlock()).timestamp)
    const terms = {
      from: treasury.address,
      to: lane,
      ...{ value: String(micro), validAfter: '0', validBefore: String(now + validSeconds) },
      nonce: ref,
    }
    const domain = { ...token.domain!, chainId: wanted.chainId }
    const signature = await signers
      .get(treasury.address)!
      .signTypedData(typedTransfer(domain, terms))
    return encodeFunctionData({
      abi: ausdAbi,
      functionName: 'transferWithAuthorization',
      args: [
        ...([terms.from, terms.to, micro, 0n] as const),
        ...([BigInt(terms.validBefore), ref, signature] as const),
      ],
    })
  }
  const onLine = (functionName: string, args: readonly unknown[]) =>
    encodeFunctionData({ abi: creditLineAbi, functionName, args } as never)
  const paidAt = BigInt(Math.floor(Date.now() / 1_000))
  const calls: Readonly<Record<Estimable, () => Hex | Promise<Hex>>> = {
    topUp: () => onLine('topUp', [ref, account, micro, false]),
    heldTopUp: () => onLine('topUp', [ref, account, micro, true]),
    repayFor: () => onLine('repayFor', [ref, account, micro, false, paidAt]),
    heldRepayFor: () => onLine('repayFor', [ref, account, micro, true, paidAt]),
    setVerified: () => onLine('setVerified', [account, true]),
    setFrozen: () => onLine('setFrozen', [account, true]),
    transferWithAuthorization: transfer,
    nativeTransfer: () => '0x',
  }
  const places = { transferWithAuthorization: token.address, nativeTransfer: account }
  const entries = await Promise.all(
    estimable.map(async (name) => {
      const to = name in places ? places[name as keyof typeof places] : line.address
      const value = name === 'nativeTransfer' ? 1n : 0n
      const data = await calls[name]()
      const gas = await reader.estimateGas({ account: lane, to, data, value }).catch(textOf)
      return [name, gas] as const
    }),
  )
  return new Map(entries)
}

/** Limits that are lower than what the chain would use: what is sent with them reverts. */
export const gasRefusals = (estimates: Estimates, limits: GasLimits = gasLimits): string[] =>
  [...estimates].flatMap(([name, gas]) =>
    typeof gas === 'bigint' && gas > limits[name]
      ? [
          `${name} takes ${gas} gas on this chain, the services send it with ${limits[name]} ` +
            '(shared/chain/gas.ts): each would revert, and cost its limit. Measure again and raise it',
        ]
      : [],
  )

/** What a person should know of the estimates besides. */
export function gasNotes(estimates: Estimates): string[] {
  const known = [...estimates].filter(([, gas]) => typeof gas === 'bigint')
  const notes = [...estimates].flatMap(([name, gas]) =>
    typeof gas === 'bigint' ? [] : [`the gas of ${name} could not be estimated: ${gas}`],
  )
  return [`gas limits compared with the chain: ${known.length} of ${estimates.size}`, ...notes]
}
