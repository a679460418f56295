import { expect } from 'bun:test'
import { appendFileSync } from 'node:fs'
import { type Address, encodeFunctionData, type Hex, hexToBigInt, numberToHex } from 'viem'
import { type OpKind, opKinds } from '#shared/chain/gas'
import { type ContractsFixture, contractsAbi, refOf } from './contracts'

/** Ethereum's prices that Monad replaces. A first access by SSTORE costs another 100, which the trace does not show. */
const ethereum = { coldSlot: 2_000n, newSlot: 19_900n, changedSlot: 2_800n, cleared: 4_800n }
/**
 * Monad's prices since MONAD_TEN (MIP-8): by pages of 128 slots, without refunds.
 * https://docs.monad.xyz/developer-essentials/opcode-pricing
 * https://docs.rs/crate/monad-revm/0.8.0/source/src/page.rs
 */
const monadPrices = { coldPage: 8_000n, pageWrite: 2_800n, newSlot: 17_000n }
/** Surcharges of Monad, which charges 10,100 for a cold account and 6,000 for ecrecover. */
const accountSurcharge = 7_500n
const recoverSurcharge = 3_000n
/** Surcharge of the real token's proxy: a cold account, a cold page and the forwarding. */
const proxySurcharge = 19_800n
const pageBits = 7n

/** Gas of a call; `proxy` is the amount that the token's proxy adds. */
export type Measured = { gas: bigint; monad: bigint; proxy: bigint }
type State = Record<Address, { nonce?: number; code?: Hex; storage?: Record<Hex, Hex> }>
type Slot = { account: Address; slot: Hex; before: bigint; after: bigint }

/** Trace of a call, which `test/bench/monad` executes. */
type Trace = { from: Address; to: Address; data: Hex; state: State } & Record<string, unknown>
const traces = new WeakMap<Measured, Trace>()
/** File to which `show` appends each trace as a line of JSON. */
const tracesFile = process.env.GAS_TRACES

export function gasOn(fixture: ContractsFixture) {
  const trace = (hash: Hex, diffMode: boolean) =>
    fixture.request({
      method: 'debug_traceTransaction',
      params: [
        hash,
        {
          tracer: 'prestateTracer',
          tracerConfig: { diffMode, disableCode: diffMode || !tracesFile },
        },
      ],
    })

  /**
   * Measures a call, and replaces Ethereum's charge for slots by Monad's for pages. Monad's cheaper memory is left out,
   * so the figure is up to 0.7 % above `monad-revm`, never below (`test/bench/monad`).
   */
  async function measure(from: Address, to: Address, data: Hex, signatures = 0): Promise<Measured> {
    const gas = numberToHex(28_000_000n)
    const { status, transactionHash, gasUsed } = await fixture.sendRaw({ from, to, data, gas })
    expect(status).toBe('success')
    const read = (await trace(transactionHash, false)) as State
    const changed = (await trace(transactionHash, true)) as { pre: State; post: State }
    const slots = slotsOf(read, changed)
    const { miner, number, timestamp } = await fixture.client.getBlock()
    const warm = new Set([from, to, miner].map((one) => one.toLowerCase()))
    const cold = Object.keys(read).filter((one) => !warm.has(one.toLowerCase()) && hexToBigInt(one as Hex) > 0xffffn)
    const monad =
      gasUsed -
      ethereumCharge(slots) +
      monadCharge(slots) +
      BigInt(cold.length) * accountSurcharge +
      BigInt(signatures) * recoverSurcharge
    const token = fixture.deployment.ausd
    const calls = Object.keys(read).includes(token.toLowerCase())
    const measured = { gas: gasUsed, monad, proxy: calls ? proxySurcharge : 0n }
    const block = { number: numberToHex(number), timestamp: numberToHex(timestamp) }
    const state = stateBefore(read, slots)
    traces.set(measured, { from, to, data, ...block, token, state })
    return measured
  }
  const many = (ops: readonly Op[]) => fixture.send('relayer', 'creditLine', 'many', [ops])
  return { measure, many }
}

function slotsOf(read: State, changed: { pre: State; post: State }): Slot[] {
  const valueIn = (state: State, account: Address, slot: Hex) => hexToBigInt(state[account]?.storage?.[slot] ?? '0x0')
  const accounts = [...new Set([...Object.keys(read), ...Object.keys(changed.post)])] as Address[]
  return accounts.flatMap((account) => {
    const storages = [read, changed.pre, changed.post].map((state) => state[account]?.storage ?? {})
    const slots = [...new Set(storages.flatMap(Object.keys))] as Hex[]
    return slots.map((slot) => {
      const isChanged = storages.slice(1).some((one) => slot in one)
      const before = valueIn(isChanged ? changed.pre : read, account, slot)
      const after = isChanged ? valueIn(changed.post, account, slot) : before
      return { account, slot, before, after }
    })
  })
}

function stateBefore(read: State, slots: readonly Slot[]): State {
  const storageOf = (account: Address) =>
    slots.filter((one) => one.account === account).map(({ slot, before }) => [slot, numberToHex(before)])
  return Object.fromEntries(
    Object.entries(read).map(([account, { nonce, code }]) => [
      account,
      { nonce, code, storage: Object.fromEntries(storageOf(account as Address)) },
    ]),
  )
}

/** Returns the charge for slots within anvil's gas used, less refunds. */
function ethereumCharge(slots: readonly Slot[]): bigint {
  const charge = ({ before, after }: Slot) => {
    if (before === after) return ethereum.coldSlot
    const written = before === 0n ? ethereum.newSlot : ethereum.changedSlot
    return ethereum.coldSlot + written - (after === 0n ? ethereum.cleared : 0n)
  }
  return slots.reduce((sum, one) => sum + charge(one), 0n)
}

/** Returns the charge for pages. Clearing a slot may make a new one free, which is not counted on. */
function monadCharge(slots: readonly Slot[]): bigint {
  const pageOf = ({ account, slot }: Slot) => `${account}:${hexToBigInt(slot) >> pageBits}`
  const pages = new Set(slots.map(pageOf))
  const changed = slots.filter(({ before, after }) => before !== after)
  const written = new Set(changed.map(pageOf))
  const created = changed.filter(({ before }) => before === 0n)
  const { coldPage, pageWrite, newSlot } = monadPrices
  return BigInt(pages.size) * coldPage + BigInt(written.size) * pageWrite + BigInt(created.length) * newSlot
}

export function show(name: string, measured: Measured, limit: bigint) {
  const { gas, monad } = measured
  if (process.env.SHOW_GAS) console.log(`${name}: ${gas} anvil, ${monad} Monad, limit ${limit}`)
  const trace = traces.get(measured)
  if (!tracesFile || !trace) return
  const figures = { name, limit: Number(limit), anvil: Number(gas), model: Number(monad) }
  appendFileSync(tracesFile, `${JSON.stringify({ ...figures, ...trace })}\n`)
}

export const call = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: contractsAbi, functionName, args } as never)

export type Op = { kind: number; ref: Hex; account: Address; amount: bigint; paidAt: bigint }
export const op = (kind: OpKind, ref: number, account: Address, amount = 0n): Op => ({
  kind: opKinds[kind],
  ref: refOf(ref),
  account,
  amount,
  paidAt: 2n ** 32n,
})

/** Returns the higher charge, because local chains keep Ethereum's prices. */
const dearer = ({ gas, monad, proxy }: Measured) => (gas > monad + proxy ? gas : monad + proxy)

/** Expects a limit of at least 5 % above either chain's charge. */
export function expectCovered(limit: bigint, measured: Measured) {
  expect(limit).toBeGreaterThan((dearer(measured) * 105n) / 100n)
}

/** Expects a limit of 5 to 35 % above either chain's charge. */
export function expectTight(limit: bigint, measured: Measured) {
  expectCovered(limit, measured)
  expect(limit).toBeLessThan((dearer(measured) * 135n) / 100n)
}
