import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

// A hold long enough that no lot matures while the others are being made.
const fixture = await openContractsFixture({ holdSeconds: 100_000 })
afterAll(fixture.close)
const lotMicro = 1_000_000n
const ana = actors.ana.address

/** 200 held lots of one AUSD each, in batches as the relayer would send them. */
async function holdLots() {
  for (let first = 1; first <= 200; first += 50) {
    const ops = Array.from({ length: 50 }, (_, index) => ({
      kind: 1,
      ref: refOf(first + index),
      account: ana,
      amount: lotMicro,
      paidAt: 0n,
    }))
    await fixture.send('relayer', 'creditLine', 'many', [ops])
  }
}

const topUp = (ref: number, amountMicro: bigint) =>
  fixture.send('relayer', 'creditLine', 'topUp', [refOf(ref), ana, amountMicro, false])
const revoke = (ref: number) => fixture.send('relayer', 'creditLine', 'revokeTopUp', [refOf(ref)])
await holdLots()
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

describe('an account with 200 held lots', () => {
  test('costs the relayer no more than one with none', async () => {
    const costs = [
      await fixture.send('relayer', 'creditLine', 'topUp', [refOf(900), ana, lotMicro, true]),
      await topUp(901, lotMicro),
      await fixture.send('relayer', 'creditLine', 'repayFor', [
        refOf(902),
        ana,
        lotMicro,
        false,
        0n,
      ]),
      await revoke(100),
    ]
    for (const sent of costs) expect(sent.gasUsed).toBeLessThan(190_000n)
  })

  test('is seen exactly at once when they mature, revoked ones left out', async () => {
    for (const ref of [1, 7, 200]) await revoke(ref)
    expect(await fixture.accountOf('ana')).toMatchObject({ collateral: 0n })
    await fixture.warp(100_000)
    expect(await fixture.accountOf('ana')).toMatchObject({
      collateral: 197n * lotMicro,
      pendingShares: 0n,
      pendingUntil: 0n,
    })
  })

  test('uses what one call folds, settles the rest with bounded gas, then uses all', async () => {
    await fixture.warp(100_000)
    const first = await fixture.send('ana', 'creditLine', 'draw', [6n * lotMicro, ana])
    expect(first.gasUsed).toBeLessThan(300_000n)
    expect(await fixture.refusal('ana', 'creditLine', 'draw', [50n * lotMicro, ana])).toBe(
      'SettleLotsFirst',
    )
    for (let call = 0; call < 4; call++) {
      const settled = await fixture.send('citra', 'creditLine', 'settleLots', [ana, 50n])
      expect(settled.gasUsed).toBeLessThan(250_000n)
    }
    await fixture.send('ana', 'creditLine', 'draw', [94n * lotMicro, ana])
    expect(await fixture.accountOf('ana')).toMatchObject({ limit: 100n * lotMicro })
  })

  test('says when the last lot that is not revoked matures', async () => {
    const { pendingUntil } = await fixture.accountOf('ana')
    await fixture.warp(500)
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(900), ana, lotMicro, true])
    expect((await fixture.accountOf('ana')).pendingUntil).toBeGreaterThan(pendingUntil)
    await revoke(900)
    expect((await fixture.accountOf('ana')).pendingUntil).toBe(pendingUntil)
  })
})

test('the fixture really holds 200 lots', async () => {
  expect(await fixture.accountOf('ana')).toMatchObject({ pendingShares: 200n * 10n ** 12n })
})
