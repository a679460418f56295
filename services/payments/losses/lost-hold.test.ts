import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { recordPayment } from '../payment.store'
import { newWallet, openFixture, waitUntil } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  await fixture.rest()
  await fixture.control('faults', {})
})

const isFrozen = (wallet: `0x${string}`) =>
  waitUntil(`${wallet} being frozen`, async () => (await fixture.walletRow(wallet))?.frozen)
const refund = (id: string, body: object = {}) => fixture.control(`payments/${id}/refund`, body)
async function paid(wallet: string, channel_code: string): Promise<string> {
  const asked = { wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() }
  const id = (await fixture.topup(asked)).ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code, force: true })
  return id
}
async function credited(wallet: string, channel = 'QRIS'): Promise<string> {
  const id = await paid(wallet, channel)
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('credit', id)
  return id
}

describe('a wallet frozen for a hold that could not be kept', () => {
  const clear = async (wallet: `0x${string}`) =>
    expect((await fixture.clear(wallet)).ok!.done).toContain('is no longer frozen')
  const isFree = async (wallet: `0x${string}`) => !(await fixture.walletRow(wallet))!.frozen
  /** Loses a hold: the chain has released it while the provider does not respond. */
  async function loseHold(wallet: `0x${string}`): Promise<string> {
    const id = await credited(wallet, 'CARDS')
    fixture.chain.hold = { state: 'released', until: 1 }
    await fixture.control('faults', { api: { errorRate: 1 }, webhooks: { drop: 1 } })
    await fixture.recheck()
    await isFrozen(wallet)
    await fixture.control('faults', {})
    await fixture.database.run((db) => recordPayment(db, id, { nextCheckAt: null }))
    return id
  }

  test('is unfrozen once a later loss is repaid if an operator cleared the hold before', async () => {
    const wallet = newWallet()
    await loseHold(wallet)
    await clear(wallet)
    await refund(await credited(wallet))
    await isFrozen(wallet)
    const id = await paid(wallet, 'QRIS')
    await fixture.becomes(id, { state: 'credited', reason: 'made_good' })
    expect(await isFree(wallet)).toBe(true)
  })

  test('stays cleared after the revocation of a part', async () => {
    const wallet = newWallet()
    const id = await loseHold(wallet)
    await clear(wallet)
    await refund(id, { amount: 10_000 })
    const { leftMicro } = await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', `${id}:${leftMicro}`)
    await fixture.becomes(id, { state: 'held' })
    expect(await isFree(wallet)).toBe(true)
  })

  test('is frozen again by a further one', async () => {
    const wallet = newWallet()
    await loseHold(wallet)
    await clear(wallet)
    await loseHold(wallet)
    expect(await isFree(wallet)).toBe(false)
  })

  test('is not cleared by an operator before it is listed', async () => {
    const wallet = newWallet()
    await loseHold(wallet)
    const seen = await fixture.freezeOf(wallet)
    await loseHold(wallet)
    expect((await fixture.clear(wallet, 'sari', seen)).ok!.refused).toContain('have changed')
    await clear(wallet)
  })
})
