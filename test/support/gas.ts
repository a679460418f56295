import { expect } from 'bun:test'
import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { type OpKind, opKinds } from '#shared/chain/gas'
import { type ContractsFixture, contractsAbi, refOf } from './contracts'

/** Monad charges 8100 for a cold slot and 10100 for a cold account, Ethereum 2100 and 2600. */
const slotSurcharge = 6_000n
const accountSurcharge = 7_500n

/** Gas of one transaction: on anvil, and with Monad's prices for cold accesses. */
export type Measured = { gas: bigint; monad: bigint }
type AccessList = { accessList: { address: Hex; storageKeys: Hex[] }[]; gasUsed: Hex }

/** Measures transactions of a fixture. */
export function gasOn(fixture: ContractsFixture) {
  /** Sends the transaction and returns its gas. */
  async function measure(from: Address, to: Address, data: Hex): Promise<Measured> {
    const transaction = { from, to, data, gas: numberToHex(28_000_000n) }
    const { accessList } = (await fixture.request({
      method: 'eth_createAccessList',
      params: [transaction, 'latest'],
    })) as AccessList
    const receipt = await fixture.sendRaw(transaction)
    expect(receipt.status).toBe('success')
    const slots = accessList.reduce((sum, one) => sum + BigInt(one.storageKeys.length), 0n)
    const gas = receipt.gasUsed
    return {
      gas,
      monad: gas + slots * slotSurcharge + BigInt(accessList.length) * accountSurcharge,
    }
  }
  const many = (ops: readonly Op[]) => fixture.send('relayer', 'creditLine', 'many', [ops])
  return { measure, many }
}

/** Prints measured gas and limit if SHOW_GAS is set. */
export function show(name: string, { gas, monad }: Measured, limit: bigint) {
  if (process.env.SHOW_GAS) console.log(`${name}: ${gas} anvil, ${monad} Monad, limit ${limit}`)
}

/** Returns the call data for either contract. */
export const call = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: contractsAbi, functionName, args } as never)

/** Returns one operation for `many`. */
export type Op = { kind: number; ref: Hex; account: Address; amount: bigint; paidAt: bigint }
export const op = (kind: OpKind, ref: number, account: Address, amount = 0n): Op => ({
  kind: opKinds[kind],
  ref: refOf(ref),
  account,
  amount,
  paidAt: 2n ** 32n,
})

/** Expects the limit to be at least 5% above Monad's charge. */
export function expectCovered(limit: bigint, { monad }: Measured) {
  expect(limit).toBeGreaterThan((monad * 105n) / 100n)
}

/** Expects the same, and at most 35% above it. */
export function expectTight(limit: bigint, measured: Measured) {
  expectCovered(limit, measured)
  expect(limit).toBeLessThan((measured.monad * 135n) / 100n)
}
