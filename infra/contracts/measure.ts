import { expect } from 'bun:test'
import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { refOf, type Stage, stageAbi } from '#infra/contracts/stage'
import { type OpKind, opKinds } from '#shared/chain/gas'

/** Monad charges 8100 for a cold slot and 10100 for a cold account, Ethereum 2100 and 2600. */
const slotSurcharge = 6_000n
const accountSurcharge = 7_500n

/** A wallet that no token was ever sent to: its balance is a fresh slot. */
export const nobody: Address = '0x00000000000000000000000000000000000000aa'

/** Gas that a transaction used: on anvil, and as Monad prices its cold accesses. */
export type Measured = { gas: bigint; monad: bigint }
type AccessList = { accessList: { address: Hex; storageKeys: Hex[] }[]; gasUsed: Hex }

/** Sends a transaction and answers what it used. */
export async function measure(
  stage: Stage,
  from: Address,
  to: Address,
  data: Hex,
): Promise<Measured> {
  const transaction = { from, to, data, gas: numberToHex(28_000_000n) }
  const { accessList } = (await stage.request({
    method: 'eth_createAccessList',
    params: [transaction, 'latest'],
  })) as AccessList
  const receipt = await stage.sendRaw(transaction)
  expect(receipt.status).toBe('success')
  const slots = accessList.reduce((sum, one) => sum + BigInt(one.storageKeys.length), 0n)
  const gas = receipt.gasUsed
  return { gas, monad: gas + slots * slotSurcharge + BigInt(accessList.length) * accountSurcharge }
}

/** Prints the numbers of the README's table when `SHOW_GAS` is set. */
export function show(name: string, { gas, monad }: Measured, limit: bigint) {
  if (process.env.SHOW_GAS) console.log(`${name}: ${gas} anvil, ${monad} Monad, limit ${limit}`)
}

/** Calldata for either contract. */
export const call = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: stageAbi, functionName, args } as never)

/** One operation of `many`. */
export type Op = { kind: number; ref: Hex; account: Address; amount: bigint; paidAt: bigint }
/** An operation by its kind; amount in micro AUSD. */
export const op = (kind: OpKind, ref: number, account: Address, amount = 0n): Op => ({
  kind: opKinds[kind],
  ref: refOf(ref),
  account,
  amount,
  paidAt: 2n ** 32n,
})
/** The limit is above what was measured, with a margin. */
export function expectCovered(limit: bigint, { monad }: Measured) {
  expect(limit).toBeGreaterThan((monad * 105n) / 100n)
}

/** And not far above: Monad charges the limit. */
export function expectTight(limit: bigint, measured: Measured) {
  expectCovered(limit, measured)
  expect(limit).toBeLessThan((measured.monad * 135n) / 100n)
}
