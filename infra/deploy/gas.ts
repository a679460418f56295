import { type Address, encodeFunctionData, type Hex, keccak256, toHex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { typedTransfer } from '#shared/chain/erc3009'
import { gasLimits } from '#shared/chain/gas'
import type { DeployFacts } from './facts'
import { type DeployNode, textOf } from './node'
import type { Signers, WantedDeployment } from './wanted'

// The fixed gas limits were measured on an anvil with a stand-in token, so they are compared with `eth_estimateGas` of
// the real chain. No transaction is sent.

/** Operations that a fresh chain can estimate. The others need debts and holds. */
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
/** Gas, or the node's error message, of each operation. */
export type Estimates = ReadonlyMap<Estimable, bigint | string>

/** Returns an account that the chain has never seen. */
const stranger = (salt: string): Address => `0x${keccak256(toHex(salt)).slice(-40)}`
/** Amount of the signed transfer. It pays our own lane, so submitting it does no harm. */
const micro = 1n
const validSeconds = 60

export async function estimateGas(
  { reader }: DeployNode,
  { token, line, treasury, lanes }: DeployFacts,
  wanted: WantedDeployment,
  signers: Signers,
): Promise<Estimates> {
  const lane = lanes[0]?.address
  if (!token?.domain || !line || !lane) throw new Error('gas estimates need the token, the credit line and a lane')
  const salt = `${line.address} ${Date.now()}`
  const [ref, account] = [keccak256(toHex(salt)), stranger(salt)]
  const transfer = async (): Promise<Hex> => {
    const now = Number((await reader.getBlock()).timestamp)
    const terms = {
      from: treasury.address,
      to: lane,
      value: String(micro),
      validAfter: '0',
      validBefore: String(now + validSeconds),
      nonce: ref,
    }
    const domain = { ...token.domain!, chainId: wanted.chainId }
    const signature = await signers.get(treasury.address)!.signTypedData(typedTransfer(domain, terms))
    return encodeFunctionData({
      abi: ausdAbi,
      functionName: 'transferWithAuthorization',
      args: [terms.from, terms.to, micro, 0n, BigInt(terms.validBefore), ref, signature],
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

export const gasRefusals = (estimates: Estimates, limits: GasLimits = gasLimits): string[] =>
  [...estimates].flatMap(([name, gas]) =>
    typeof gas === 'bigint' && gas > limits[name]
      ? [
          `${name} takes ${gas} gas on this chain, but the services send it with ${limits[name]} ` +
            '(shared/chain/gas.ts), so it would revert and still cost its limit: raise the limit',
        ]
      : [],
  )

export function gasNotes(estimates: Estimates): string[] {
  const known = [...estimates].filter(([, gas]) => typeof gas === 'bigint')
  const notes = [...estimates].flatMap(([name, gas]) =>
    typeof gas === 'bigint' ? [] : [`could not estimate the gas of ${name}: ${gas}`],
  )
  return [`gas limits compared with the chain: ${known.length} of ${estimates.size}`, ...notes]
}
