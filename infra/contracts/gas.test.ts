import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Address, encodeFunctionData, multicall3Abi, numberToHex, parseSignature } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { transferTypes } from '#shared/chain/erc3009'
import {
  bundleGasLimit,
  gasLimits,
  manyGasLimit,
  type OpKind,
  opGasFloor,
  opKinds,
} from '#shared/chain/gas'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, multicall3Address, openContractsFixture } from '#test/support/contracts'
import { call, expectCovered, expectTight, gasOn, type Op, op, show } from '#test/support/gas'

// A hold that is over before a term is, and longer than it takes to prepare fifty accounts.
const holdSeconds = 1_000
const fixture = await openContractsFixture({ holdSeconds })
const { act } = actionsOn(fixture)
const { measure, many } = gasOn(fixture)
await fixture.request({ method: 'anvil_autoImpersonateAccount', params: [true] })
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const relayer = actors.relayer.address
const { ausd: token, creditLine } = fixture.deployment
/** A wallet that no token was ever sent to: its balance is a fresh slot. */
const nobody: Address = '0x00000000000000000000000000000000000000aa'

const manyCall = (ops: readonly Op[]) => call('many', [ops])

/** An operation in a transaction of its own, as the relayer sends it when nothing else waits. */
function singleCall({ kind, ref, account, amount, paidAt }: Op) {
  if (kind <= 1) return call('topUp', [ref, account, amount, kind === 1])
  if (kind === 2 || kind === 4) return call('repayFor', [ref, account, amount, kind === 4, paidAt])
  return call(kind === 3 ? 'revokeTopUp' : kind === 5 ? 'revokeRepayment' : 'extendHold', [ref])
}

/** The first ref of an account's operations; they are a thousand apart. */
const refsOf = (index: number) => 1_000 * (index + 1)

/** Accounts nobody has seen before, each with a debt of 50 AUSD for two minutes; the pool is full of
 * matured repayments of another's, which what comes into its queue has to fold. */
async function indebted(count: number): Promise<Address[]> {
  await act('topUp', 1, ausd('1000'), false, 'budi')
  await act('draw', ausd('200'), 'budi')
  const held = Array.from({ length: 120 }, (_, index) =>
    op('heldRepayFor', 100 + index, actors.budi.address, ausd('1')),
  )
  for (let first = 0; first < held.length; first += 40) await many(held.slice(first, first + 40))
  await fixture.warp(holdSeconds + 1)
  const accounts = Array.from(
    { length: count },
    () => privateKeyToAccount(generatePrivateKey()).address,
  )
  await many(accounts.map((one, index) => op('topUp', refsOf(index), one, ausd('100'))))
  for (const account of accounts) {
    await fixture.send('verifier', 'creditLine', 'setVerified', [account, true])
    await fixture.client.setBalance({ address: account, value: 10n ** 20n })
    const data = call('draw', [ausd('50'), account])
    const receipt = await fixture.sendRaw({ from: account, to: creditLine, data, gas: '0x100000' })
    expect(receipt.status).toBe('success')
  }
  await fixture.warp(120)
  return accounts
}

/** Two held repayments of one cycle: 10 AUSD, then one that closes it with an excess of 20. */
async function closeWithTwo(accounts: readonly Address[]) {
  const each = (make: (account: Address, ref: number) => Op) =>
    many(accounts.map((account, index) => make(account, refsOf(index))))
  await each((account, ref) => op('heldRepayFor', ref + 1, account, ausd('10')))
  await each((account, ref) => op('heldRepayFor', ref + 2, account, ausd('60')))
  await fixture.warp(5)
  return each
}

/** For each kind the dearest state there is, made for so many accounts; answers the operations. */
const dearest: Record<OpKind, (count: number) => Promise<Op[]>> = {
  topUp: async (count) =>
    freshAccounts(count).map(([one, ref]) => op('topUp', ref, one, 77_123_456n)),
  heldTopUp: async (count) =>
    freshAccounts(count).map(([one, ref]) => op('heldTopUp', ref, one, 77_123_456n)),
  // Closes a cycle in which held money counted, so that its reward waits; with an excess.
  repayFor: async (count) => {
    const accounts = await indebted(count)
    await many(accounts.map((one, at) => op('heldRepayFor', refsOf(at) + 1, one, ausd('10'))))
    return accounts.map((one, at) => op('repayFor', refsOf(at) + 2, one, ausd('60')))
  },
  // The first hold of an account, closing its cycle, with an excess.
  heldRepayFor: async (count) => {
    const accounts = await indebted(count)
    return accounts.map((one, at) => op('heldRepayFor', refsOf(at) + 1, one, ausd('60')))
  },
  // Not the last of its account: what becomes zero again would be cheaper.
  revokeTopUp: async (count) => {
    const ops = freshAccounts(count).map(([one, ref]) => op('heldTopUp', ref, one, 77_123_456n))
    await many(ops)
    await many(ops.map((one) => ({ ...one, ref: numberToHex(BigInt(one.ref) + 1n, { size: 32 }) })))
    return ops.map((one) => ({ ...one, kind: opKinds.revokeTopUp }))
  },
  // With an excess, from a closed cycle whose reward waits on another repayment.
  revokeRepayment: async (count) => {
    const accounts = await indebted(count)
    const each = await closeWithTwo(accounts)
    await each((one, ref) => op('extendHold', ref + 1, one))
    return accounts.map((one, at) => op('revokeRepayment', refsOf(at) + 2, one))
  },
  // Of one that the reward of a closed cycle has to move to.
  extendHold: async (count) => {
    const accounts = await indebted(count)
    await closeWithTwo(accounts)
    return accounts.map((one, at) => op('extendHold', refsOf(at) + 1, one))
  },
}

const freshAccounts = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const account = privateKeyToAccount(generatePrivateKey()).address
    return [account, refsOf(index) + 1] as const
  })

const kinds = Object.keys(opKinds) as OpKind[]

describe('the fixed gas limit of a relayed operation', () => {
  test.each(kinds)('covers %s in its dearest state, and is tight', async (kind) => {
    const [one] = await dearest[kind](1)
    const measured = await measure(relayer, creditLine, singleCall(one!))
    show(kind, measured, gasLimits[kind])
    expectTight(gasLimits[kind], measured)
  })

  test('covers an extension of debt and excess together', async () => {
    const [account] = await indebted(1)
    await closeWithTwo([account!])
    const data = singleCall(op('extendHold', refsOf(0) + 2, account!))
    const measured = await measure(relayer, creditLine, data)
    show('extendHold with an excess', measured, gasLimits.extendHold)
    expectCovered(gasLimits.extendHold, measured)
  })

  test('covers a repayment that brings an account its first collateral', async () => {
    for (const kind of ['repayFor', 'heldRepayFor'] as const) {
      const data = singleCall(op(kind, 1, ana, ausd('60')))
      const measured = await measure(relayer, creditLine, data)
      show(`${kind}, nothing owed`, measured, gasLimits[kind])
      expectCovered(gasLimits[kind], measured)
      await fixture.rewind()
      await fixture.checkpoint()
    }
  })

  test.each(['setVerified', 'setFrozen'] as const)('covers %s of a fresh account', async (name) => {
    const data = call(name, [actors.citra.address, true])
    const measured = await measure(actors.verifier.address, creditLine, data)
    show(name, measured, gasLimits[name])
    expectTight(gasLimits[name], measured)
  })

  test.each(['bytes', 'vrs'] as const)('covers an authorization with %s', async (overload) => {
    const measured = await measure(relayer, token, await authorization(overload))
    show(`transferWithAuthorization (${overload})`, measured, gasLimits.transferWithAuthorization)
    expectTight(gasLimits.transferWithAuthorization, measured)
  })
})

test.each([2, 16])(
  'the limit of a bundle covers %d transfers to fresh wallets, and is tight',
  async (count) => {
    const wallets = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()))
    for (const { address } of wallets)
      await fixture.send('admin', 'ausd', 'mint', [address, ausd('100')])
    const transfers = await Promise.all(
      wallets.map(async (wallet, index) => ({
        ...{ target: token, allowFailure: true },
        callData: await authorization('bytes', wallet, numberToHex(index + 1_000, { size: 20 })),
      })),
    )
    const data = encodeFunctionData({
      ...{ abi: multicall3Abi, functionName: 'aggregate3', args: [transfers] },
    })
    const measured = await measure(relayer, multicall3Address, data)
    show(`a bundle of ${count}`, measured, bundleGasLimit(count))
    expectTight(bundleGasLimit(count), measured)
    const used = await fixture.client.getContractEvents({
      ...{ abi: ausdAbi, address: token, eventName: 'AuthorizationUsed' },
    })
    expect(used).toHaveLength(count)
  },
)

describe('many', () => {
  test('wants what the constant says left before each operation', async () => {
    const floor = await fixture.client.readContract({
      abi: creditLineAbi,
      address: creditLine,
      functionName: 'OP_GAS_FLOOR',
    })
    expect(opGasFloor).toBe(floor)
  })

  /** Checks the limit of these operations, which is also more than what their last one wants left. */
  const expectEnough = async (ofKinds: readonly OpKind[], ops: readonly Op[]) => {
    await fixture.checkpoint()
    const before = await measure(relayer, creditLine, manyCall(ops.slice(0, -1)))
    await fixture.rewind()
    const measured = await measure(relayer, creditLine, manyCall(ops))
    const limit = manyGasLimit(ofKinds)
    const names = [...new Set(ofKinds)]
    show(`many, ${ops.length} x ${names.length > 1 ? 'all' : names[0]}`, measured, limit)
    expectCovered(limit, measured)
    expect(limit).toBeGreaterThan(before.monad + opGasFloor)
    const failed = await fixture.client.getContractEvents({
      abi: creditLineAbi,
      address: creditLine,
      eventName: 'OpFailed',
    })
    expect(failed).toEqual([])
  }

  test.each(kinds)('has gas for one and for ten times %s', async (kind) => {
    for (const count of [1, 10]) {
      await fixture.checkpoint()
      const ops = await dearest[kind](count)
      await expectEnough(Array(count).fill(kind), ops)
      await fixture.rewind()
    }
  })

  test('has gas for fifty of the dearest', async () => {
    const ops = await dearest.heldRepayFor(50)
    await expectEnough(Array(50).fill('heldRepayFor'), ops)
  })

  test('starves nothing: its floor covers each operation in its dearest state', async () => {
    const none = await measure(relayer, creditLine, manyCall([]))
    for (const kind of kinds) {
      await fixture.checkpoint()
      const one = await measure(relayer, creditLine, manyCall(await dearest[kind](1)))
      // A call passes on 63/64 of what is left.
      expect((opGasFloor * 63n) / 64n).toBeGreaterThan(one.monad - none.monad)
      await fixture.rewind()
    }
  })
})

async function authorization(overload: 'bytes' | 'vrs', by = actors.ana, to = nobody) {
  const message = {
    from: by.address,
    to,
    value: 12_345_678n,
    validAfter: 1n,
    validBefore: 2n ** 40n,
    nonce: generatePrivateKey(),
  }
  const signature = await by.signTypedData({
    domain: { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: token },
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const { r, s, yParity } = parseSignature(signature)
  const tail = overload === 'bytes' ? [signature] : [yParity + 27, r, s]
  return call('transferWithAuthorization', [...Object.values(message), ...tail])
}
