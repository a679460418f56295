import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { encodeFunctionData, type Hex, numberToHex, parseSignature } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Actor, actors, openStage, refOf, stageAbi } from '#infra/contracts/stage'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { gasLimits, manyGasLimit } from '#shared/chain/gas'

const stage = await openStage()
afterAll(stage.close)
beforeEach(stage.checkpoint)
afterEach(stage.rewind)

/** Monad charges 8100 for a cold slot and 10100 for a cold account, Ethereum 2100 and 2600. */
const slotSurcharge = 6_000n
const accountSurcharge = 7_500n

const ana = actors.ana.address
const { ausd, creditLine } = stage.deployment

const authorizationFields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

type Measured = { gas: bigint; monad: bigint }
type AccessList = { accessList: { address: Hex; storageKeys: Hex[] }[]; gasUsed: Hex }

/** Gas of a transaction sent now: on anvil, and as Monad prices its cold accesses. */
async function measure(from: Actor, to: Hex, data: Hex): Promise<Measured> {
  const transaction = { from: actors[from].address, to, data, gas: numberToHex(25_000_000n) }
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

const call = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: stageAbi, functionName, args } as never)
const topUp = (ref: number, held = false, account = ana) =>
  call('topUp', [refOf(ref), account, 100_000_000n, held])
const relayed = (data: Hex) => measure('relayer', creditLine, data)
const owe = async () => {
  await relayed(topUp(900))
  await stage.send('ana', 'creditLine', 'draw', [50_000_000n, ana])
  await stage.warp(100)
}

const authorization = async (overload: 'bytes' | 'vrs') => {
  const fresh = privateKeyToAccount(generatePrivateKey()).address
  const message = {
    from: ana,
    to: fresh,
    value: 123_456_789n,
    validAfter: 1n,
    validBefore: 2n ** 40n,
    nonce: generatePrivateKey(),
  }
  const signature = await actors.ana.signTypedData({
    domain: { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: ausd },
    types: { TransferWithAuthorization: authorizationFields },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const { r, s, yParity } = parseSignature(signature)
  const tail = overload === 'bytes' ? [signature] : [yParity + 27, r, s]
  return call('transferWithAuthorization', [...Object.values(message), ...tail])
}

const opGasFloor = () =>
  stage.client.readContract({
    abi: creditLineAbi,
    address: creditLine,
    functionName: 'OP_GAS_FLOOR',
  })

const citra = actors.citra.address
const scenarios: readonly [string, bigint, () => Promise<Measured>][] = [
  ['topUp of a fresh account', gasLimits.topUp, () => relayed(topUp(1))],
  ['topUp held, fresh account', gasLimits.heldTopUp, () => relayed(topUp(1, true))],
  [
    'repayFor closing a cycle with an excess',
    gasLimits.repayFor,
    async () => {
      await owe()
      return relayed(call('repayFor', [refOf(2), ana, 60_000_000n]))
    },
  ],
  [
    'repayFor of a fresh account that owes nothing',
    gasLimits.repayFor,
    () => relayed(call('repayFor', [refOf(2), ana, 60_000_000n])),
  ],
  [
    'revokeTopUp',
    gasLimits.revokeTopUp,
    async () => {
      await relayed(topUp(1, true))
      return relayed(call('revokeTopUp', [refOf(1)]))
    },
  ],
  [
    'setVerified of a fresh account',
    gasLimits.setVerified,
    () => measure('verifier', creditLine, call('setVerified', [citra, true])),
  ],
  [
    'transferWithAuthorization (bytes)',
    gasLimits.transferWithAuthorization,
    async () => measure('relayer', ausd, await authorization('bytes')),
  ],
  [
    'transferWithAuthorization (v, r, s)',
    gasLimits.transferWithAuthorization,
    async () => measure('relayer', ausd, await authorization('vrs')),
  ],
]

describe('a fixed gas limit', () => {
  test.each(scenarios)('covers %s and is tight (%p)', async (name, limit, run) => {
    const { gas, monad } = await run()
    if (process.env.SHOW_GAS) console.log(`${name}: ${gas} on anvil, ${monad} as priced on Monad`)
    expect(limit).toBeGreaterThan((monad * 105n) / 100n)
    expect(limit).toBeLessThan((monad * 135n) / 100n)
  })

  test.each([1, 2, 3, 10, 50])('of many covers %d of the dearest operations', async (count) => {
    const fresh = () => privateKeyToAccount(generatePrivateKey()).address
    const ops = Array.from({ length: count }, (_, index) => ({
      kind: 1,
      ref: refOf(1_000 + index),
      account: fresh(),
      amount: 77_123_456n,
    }))
    // Before the last operation the contract wants its floor left.
    const before = count === 1 ? 0n : (await relayed(call('many', [ops.slice(0, -1)]))).monad
    await stage.rewind()
    await stage.checkpoint()
    const { gas, monad } = await relayed(call('many', [ops]))
    if (process.env.SHOW_GAS) console.log(`many x ${count}: ${gas} on anvil, ${monad} on Monad`)
    const floor = await opGasFloor()
    expect(manyGasLimit(count)).toBeGreaterThan((monad * 105n) / 100n)
    expect(manyGasLimit(count)).toBeGreaterThan(before + floor)
  })

  test('of many starves nothing: its floor covers the dearest operation', async () => {
    const ops = [{ kind: 1, ref: refOf(1), account: ana, amount: 77_123_456n }]
    const one = await relayed(call('many', [ops]))
    const none = await relayed(call('many', [[]]))
    const floor = await opGasFloor()
    // A call passes on 63/64 of what is left.
    expect((floor * 63n) / 64n).toBeGreaterThan(one.monad - none.monad)
  })
})
