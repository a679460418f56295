import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Address, encodeFunctionData, multicall3Abi, numberToHex, parseSignature } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { erc3009Types } from '#shared/chain/erc3009'
import { bundleGasLimit, gasLimits, manyGasLimit, type OpKind, opGasFloor, opKinds } from '#shared/chain/gas'
import { ausd } from '#test/support/contract-actions'
import { actors, openContractsFixture } from '#test/support/contracts'
import { call, expectCovered, expectTight, gasOn, type Op, op, show } from '#test/support/gas'

// Length of a hold, which ends before a term, but lasts while fifty accounts are prepared.
const holdSeconds = 1_000
/** Time that is longer than the distance between two ends of a hold. */
const stepSeconds = 70
const fixture = await openContractsFixture({ holdSeconds })
const { measure, many } = gasOn(fixture)
await fixture.request({ method: 'anvil_autoImpersonateAccount', params: [true] })
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const relayer = actors.relayer.address
const { ausd: token, creditLine } = fixture.deployment
/** Address that never received the token, so its balance is a new slot. */
const nobody: Address = '0x00000000000000000000000000000000000000aa'

const manyCall = (ops: readonly Op[]) => call('many', [ops])

function singleCall({ kind, ref, account, amount, paidAt }: Op) {
  if (kind <= 1) return call('topUp', [ref, account, amount, kind === 1])
  if (kind === 2 || kind === 4) return call('repayFor', [ref, account, amount, kind === 4, paidAt])
  if (kind === 6) return call('extendHold', [ref])
  return call(kind === 3 ? 'revokeTopUp' : 'revokeRepayment', [ref, amount])
}

const refsOf = (index: number) => 1_000 * (index + 1)

/** Returns accounts in debt. No repayment was held before, so the first hold uses a new slot. */
async function indebted(count: number): Promise<Address[]> {
  const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()).address)
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

/** Repays 10 AUSD, then an amount that closes the cycle with an excess of 20. */
async function closeWithTwo(accounts: readonly Address[]) {
  const each = (make: (account: Address, ref: number) => Op) =>
    many(accounts.map((account, index) => make(account, refsOf(index))))
  await each((account, ref) => op('heldRepayFor', ref + 1, account, ausd('10')))
  await each((account, ref) => op('heldRepayFor', ref + 2, account, ausd('60')))
  await fixture.warp(stepSeconds)
  return each
}

const dearest: Record<OpKind, (count: number) => Promise<Op[]>> = {
  topUp: async (count) => freshAccounts(count).map(([one, ref]) => op('topUp', ref, one, 77_123_456n)),
  heldTopUp: async (count) => freshAccounts(count).map(([one, ref]) => op('heldTopUp', ref, one, 77_123_456n)),
  // The operation closes a cycle with held money, so its reward waits; it has an excess.
  repayFor: async (count) => {
    const accounts = await indebted(count)
    await many(accounts.map((one, at) => op('heldRepayFor', refsOf(at) + 1, one, ausd('10'))))
    return accounts.map((one, at) => op('repayFor', refsOf(at) + 2, one, ausd('60')))
  },
  // An account's first hold closes its cycle, with an excess.
  heldRepayFor: async (count) => {
    const accounts = await indebted(count)
    return accounts.map((one, at) => op('heldRepayFor', refsOf(at) + 1, one, ausd('60')))
  },
  // The operation revokes a part, which is not the last hold of its account.
  revokeTopUp: async (count) => {
    const ops = freshAccounts(count).map(([one, ref]) => op('heldTopUp', ref, one, 77_123_456n))
    await many(ops)
    await many(ops.map((one) => ({ ...one, ref: numberToHex(BigInt(one.ref) + 1n, { size: 32 }) })))
    return ops.map((one) => ({ ...one, kind: opKinds.revokeTopUp, amount: 1n }))
  },
  // The operation revokes the excess and most of the debt of a closed cycle whose reward waits for another hold.
  revokeRepayment: async (count) => {
    const accounts = await indebted(count)
    const each = await closeWithTwo(accounts)
    await each((one, ref) => op('extendHold', ref + 1, one))
    return accounts.map((one, at) => op('revokeRepayment', refsOf(at) + 2, one, 1n))
  },
  // The operation moves debt and excess to new buckets, with the reward of the closed cycle.
  extendHold: async (count) => {
    const accounts = await indebted(count)
    await closeWithTwo(accounts)
    return accounts.map((one, at) => op('extendHold', refsOf(at) + 2, one))
  },
}

const freshAccounts = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const account = privateKeyToAccount(generatePrivateKey()).address
    return [account, refsOf(index) + 1] as const
  })

const kinds = Object.keys(opKinds) as OpKind[]

describe('the fixed gas limit of a relayed operation', () => {
  test.each(kinds)('the limit of %s covers its dearest state and is tight', async (kind) => {
    const [one] = await dearest[kind](1)
    const measured = await measure(relayer, creditLine, singleCall(one!))
    show(kind, measured, gasLimits[kind])
    expectTight(gasLimits[kind], measured)
  })

  test('the limits of repayments cover one that brings an account its first collateral', async () => {
    for (const kind of ['repayFor', 'heldRepayFor'] as const) {
      const data = singleCall(op(kind, 1, ana, ausd('60')))
      const measured = await measure(relayer, creditLine, data)
      show(`${kind}, nothing owed`, measured, gasLimits[kind])
      expectCovered(gasLimits[kind], measured)
      await fixture.rewind()
      await fixture.checkpoint()
    }
  })

  test.each(['setVerified', 'setFrozen'] as const)(
    'the limit of %s covers a new account and is tight',
    async (name) => {
      const data = call(name, [actors.citra.address, true])
      const measured = await measure(actors.verifier.address, creditLine, data)
      show(name, measured, gasLimits[name])
      expectTight(gasLimits[name], measured)
    },
  )

  test.each(['bytes', 'vrs'] as const)(
    'the limit of transferWithAuthorization covers a signature as %s and is tight',
    async (overload) => {
      const measured = await measure(relayer, token, await authorization(overload), 1)
      show(`transferWithAuthorization (${overload})`, measured, gasLimits.transferWithAuthorization)
      expectTight(gasLimits.transferWithAuthorization, measured)
    },
  )
})

test('the limit of a transfer from a contract wallet covers a check of 100,000 gas', async () => {
  const limit = gasLimits.transferWithAuthorizationFromContract
  const wallet = '0x0000000000000000000000000000000bbbbbbbbb'
  // This code burns 100,000 gas, then returns the magic value of ERC-1271.
  const code = '0x5a5b5a8103620186a011600157631626ba7e60e01b5f5260205ff3'
  await fixture.client.setCode({ address: wallet, bytecode: code })
  await fixture.send('admin', 'ausd', 'mint', [wallet, ausd('100')])
  const terms = [wallet, nobody, 12_345_678n, 1n, 2n ** 40n, generatePrivateKey()]
  const data = call('transferWithAuthorization', [...terms, numberToHex(1, { size: 96 })])
  const measured = await measure(relayer, token, data)
  show('transferWithAuthorization (contract)', measured, limit)
  expectTight(limit, measured)
})

test.each([2, 16])('the limit of a bundle covers %d transfers to new wallets and is tight', async (count) => {
  const wallets = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()))
  for (const { address } of wallets) await fixture.send('admin', 'ausd', 'mint', [address, ausd('100')])
  const transfers = await Promise.all(
    wallets.map(async (wallet, index) => ({
      target: token,
      allowFailure: true,
      callData: await authorization('bytes', wallet, numberToHex(index + 1_000, { size: 20 })),
    })),
  )
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [transfers],
  })
  const measured = await measure(relayer, multicall3, data, count)
  show(`a bundle of ${count}`, measured, bundleGasLimit(count))
  expectTight(bundleGasLimit(count), measured)
  const used = await fixture.client.getContractEvents({
    abi: ausdAbi,
    address: token,
    eventName: 'AuthorizationUsed',
  })
  expect(used).toHaveLength(count)
})

describe('many', () => {
  test('opGasFloor is the OP_GAS_FLOOR of the contract', async () => {
    const floor = await fixture.client.readContract({
      abi: creditLineAbi,
      address: creditLine,
      functionName: 'OP_GAS_FLOOR',
    })
    expect(opGasFloor).toBe(floor)
  })

  const expectEnough = async (ofKinds: readonly OpKind[], ops: readonly Op[]) => {
    await fixture.checkpoint()
    const before = await measure(relayer, creditLine, manyCall(ops.slice(0, -1)))
    await fixture.rewind()
    const measured = await measure(relayer, creditLine, manyCall(ops))
    const limit = manyGasLimit(ofKinds)
    const names = [...new Set(ofKinds)]
    show(`many, ${ops.length} x ${names.length > 1 ? 'all' : names[0]}`, measured, limit)
    expectCovered(limit, measured)
    // The floor weighs less with more operations.
    if (ops.length >= 50) expectTight(limit, measured)
    expect(limit).toBeGreaterThan(before.monad + before.proxy + opGasFloor)
    const failed = await fixture.client.getContractEvents({
      abi: creditLineAbi,
      address: creditLine,
      eventName: 'OpFailed',
    })
    expect(failed).toEqual([])
  }

  test.each(kinds)('the limit of many covers one and ten operations of %s', async (kind) => {
    for (const count of [1, 10]) {
      await fixture.checkpoint()
      const ops = await dearest[kind](count)
      await expectEnough(Array(count).fill(kind), ops)
      await fixture.rewind()
    }
  })

  test('the limit of many covers fifty of the dearest operation', async () => {
    const ops = await dearest.heldRepayFor(50)
    await expectEnough(Array(50).fill('heldRepayFor'), ops)
  })

  test('the floor of many covers each operation in its dearest state', async () => {
    const none = await measure(relayer, creditLine, manyCall([]))
    for (const kind of kinds) {
      await fixture.checkpoint()
      const one = await measure(relayer, creditLine, manyCall(await dearest[kind](1)))
      const own = { ...one, gas: one.gas - none.gas, monad: one.monad - none.monad }
      show(`${kind} in many`, own, opGasFloor)
      // A call passes on 63/64 of the remaining gas.
      expect((opGasFloor * 63n) / 64n).toBeGreaterThan(own.monad + own.proxy)
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
    types: erc3009Types,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const { r, s, yParity } = parseSignature(signature)
  const tail = overload === 'bytes' ? [signature] : [yParity + 27, r, s]
  return call('transferWithAuthorization', [...Object.values(message), ...tail])
}
