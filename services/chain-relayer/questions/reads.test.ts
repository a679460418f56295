import { afterAll, describe, expect, test } from 'bun:test'
import type { PublicClient } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openNewest } from '#shared/chain/heads'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, fixtureTerms, openContractsFixture } from '#test/support/contracts'
import { accountReader } from './reads'

const fixture = await openContractsFixture()
afterAll(fixture.close)
const { client, deployment } = fixture
const { act } = actionsOn(fixture)
const account = accountReader(client as unknown as PublicClient, deployment)

const worthOf = async (shares: string) =>
  String(
    await client.readContract({
      address: deployment.creditLine,
      abi: creditLineAbi,
      functionName: 'ausdOfSharesFloor',
      args: [BigInt(shares)],
    }),
  )

describe('the collateral on hold', () => {
  test("is shown in AUSD at the contract's valuation, at any share price", async () => {
    await act('topUp', 1, ausd('7'))
    await act('topUp', 2, ausd('3.000001'), true)
    const { collateral } = await account(actors.ana.address)
    expect(collateral).toMatchObject({ value: '7000000', pendingValue: '3000001' })
    // The yield does not divide evenly among the shares, so both sides have something to round.
    await fixture.send('admin', 'creditLine', 'addYield', [1_234_567n])
    const grown = (await account(actors.ana.address)).collateral
    expect(grown.pendingShares).toBe(collateral.pendingShares)
    expect(BigInt(grown.pendingValue!)).toBeGreaterThan(3_000_001n)
    expect(grown.pendingValue).toBe(await worthOf(grown.pendingShares))
    expect(grown.value).toBe(await worthOf(grown.shares))
  })

  test('is nothing once its hold has ended', async () => {
    await fixture.warp(64)
    expect((await account(actors.ana.address)).collateral).toMatchObject({
      pendingShares: '0',
      pendingValue: '0',
      pendingUntil: null,
    })
  })
})

test('an open cycle has its number, and its dates as the contract has them, until it is repaid', async () => {
  const { address } = actors.budi
  await act('setVerified', true, 'budi')
  await act('topUp', 4, ausd('10'), false, 'budi')
  expect((await account(address)).cycle).toBeNull()
  await act('draw', ausd('2'), 'budi')
  const { cycle, blockTime } = await account(address)
  const openedAt = Number(blockTime)
  const dueAt = openedAt + fixtureTerms.termSeconds
  expect(cycle).toEqual({
    number: 1,
    openedAt: String(openedAt),
    dueAt: String(dueAt),
    defaultsAt: String(dueAt + fixtureTerms.graceSeconds),
  })
  await act('repay', ausd('2'), 'budi')
  expect((await account(address)).cycle).toBeNull()
})

test('an unverified wallet has nothing available, whatever its collateral', async () => {
  await act('topUp', 3, ausd('10'), false, 'citra')
  const { verified, collateral, limit, available } = await account(actors.citra.address)
  expect({ verified, available }).toEqual({ verified: false, available: '0' })
  expect([collateral.value, limit].map(BigInt).every((micro) => micro > 0n)).toBe(true)
})

test('an older block is read again once none as new has been read for ten seconds', () => {
  let now = 0
  const newest = openNewest(() => now)
  expect(newest.take(100n)).toBe(true)
  now = 9_999
  expect(newest.take(99n)).toBe(false)
  now = 10_000
  expect(newest.take(40n)).toBe(true)
  expect(newest.take(41n)).toBe(true)
})
