import { describe, expect, test } from 'bun:test'
import { readConfig } from '#platform/config'
import { openLog } from '#platform/log'
import { fields } from '../config'
import type { PayoutChannel } from '../provider'
import { openChannels, openDetailsSafe } from './bank'

const limits = { minMinor: 1n, maxMinor: 9n, incrementMinor: 1n }
const bca: PayoutChannel = { code: 'ID_BCA', name: 'BCA', ...limits, accountDigits: [10, 10] }
const log = openLog('payouts', 'silent')

function openList() {
  const state = { nowMs: 0, asked: 0, down: false }
  const listChannels = async () => {
    state.asked += 1
    if (state.down) throw new Error('down')
    return [bca]
  }
  const channels = openChannels({
    provider: { listChannels },
    refreshMs: 60_000,
    clock: () => state.nowMs,
    log,
  })
  return { state, channels }
}

describe('the list of banks', () => {
  test('is fetched once for concurrent requests, and again after it expires', async () => {
    const { state, channels } = openList()
    const found = await Promise.all(['ID_BCA', 'ID_X', 'ID_BCA'].map(channels.find))
    expect(found).toEqual([bca, undefined, bca])
    state.nowMs = 59_999
    await channels.find('ID_BCA')
    expect(state.asked).toBe(1)
    state.nowMs = 60_000
    await channels.find('ID_BCA')
    expect(state.asked).toBe(2)
  })
  test('is fetched again if the clock was set back', async () => {
    const { state, channels } = openList()
    await channels.find('ID_BCA')
    state.nowMs = -3_600_000
    await channels.find('ID_BCA')
    expect(state.asked).toBe(2)
  })
  test('is served after its expiry while the provider is down', async () => {
    const { state, channels } = openList()
    await channels.find('ID_BCA')
    Object.assign(state, { down: true, nowMs: 60_000 })
    expect(await channels.find('ID_BCA')).toEqual(bca)
    expect(await channels.find('ID_BCA')).toEqual(bca)
    expect(state.asked).toBe(2)
  })
  test('is fetched on demand if it was never fetched', async () => {
    const { state, channels } = openList()
    state.down = true
    await expect(channels.find('ID_BCA')).rejects.toThrow('down')
    state.down = false
    expect(await channels.find('ID_BCA')).toEqual(bca)
  })
  test('names a bank by its code until it is fetched, without waiting for it', async () => {
    const { state, channels } = openList()
    expect(channels.nameOf('ID_BCA')).toBe('ID_BCA')
    await channels.all()
    expect(['ID_BCA', 'ID_X'].map(channels.nameOf)).toEqual(['BCA', 'ID_X'])
    expect(state.asked).toBe(1)
    Object.assign(state, { down: true, nowMs: 60_000 })
    expect(channels.nameOf('ID_BCA')).toBe('BCA')
  })
})

const key = (id: string, fill: number) => ({ id, key: Buffer.alloc(32, fill) })
const details = { accountNumber: '1234567890', accountHolderName: 'Ñoño Dewi' }

describe('sealed bank details', () => {
  const old = openDetailsSafe([key('2025', 1)])
  const sealed = old.seal(details, 'payout-1')

  test('open to the original values and do not reveal them', () => {
    expect(old.open(sealed, 'payout-1')).toEqual(details)
    expect(Buffer.from(sealed.box, 'base64').toString('latin1')).not.toMatch(/1234567890|Dewi/)
  })
  test('are sealed with the first key and open with any key, so that keys can rotate', () => {
    const rotated = openDetailsSafe([key('2026', 2), key('2025', 1)])
    expect(rotated.open(sealed, 'payout-1')).toEqual(details)
    const fresh = rotated.seal(details, 'payout-2')
    expect(fresh.keyId).toBe('2026')
    expect(() => old.open(fresh, 'payout-2')).toThrow('the key 2026 for bank details')
  })
  test('are never sealed to the same bytes twice', () => {
    expect(old.seal(details, 'payout-1').box).not.toBe(sealed.box)
  })
  // guard: sealed bank details open only for their own payout
  test('security: do not open under another payout', () => {
    expect(() => old.open(sealed, 'payout-2')).toThrow()
  })
  test('security: do not open after a change or a cut', () => {
    const bytes = Buffer.from(sealed.box, 'base64')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      expect(() => old.open({ ...sealed, box: changed.toString('base64') }, 'payout-1')).toThrow()
    }
    const short = bytes.subarray(0, -1).toString('base64')
    expect(() => old.open({ ...sealed, box: short }, 'payout-1')).toThrow()
  })
  test('security: do not open with a key of the same id and other bytes', () => {
    const wrong = openDetailsSafe([key('2025', 9)])
    expect(() => wrong.open(sealed, 'payout-1')).toThrow()
  })
})

describe('the keys of bank details in the configuration', () => {
  const env = (keys: string) => ({
    DEPLOYMENT: 'local',
    NATS_URL: 'nats://localhost',
    NATS_PASSWORD: 'p',
    DATABASE_URL: 'postgres://localhost/d',
    PROVIDER_URL: 'https://provider.example',
    PROVIDER_ID_SECRET_KEY: 'k',
    TREASURY_ADDRESS: `0x${'aa'.repeat(20)}`,
    CREDIT_LINE_ADDRESS: `0x${'c1'.repeat(20)}`,
    BANK_DETAILS_KEYS: keys,
  })
  const base64 = Buffer.alloc(32, 7).toString('base64')
  test('are read in order', () => {
    const { bankDetailsKeys } = readConfig('payouts', fields, env(`b:${base64},a:${base64}`))
    expect(bankDetailsKeys.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(bankDetailsKeys[0]!.key).toEqual(Buffer.alloc(32, 7))
  })
  test.each(['secretword', `a:${base64.slice(4)}`, `:${base64}`, `a:${base64},a:${base64}`])(
    'are refused as %p, which the error does not quote',
    (keys) => {
      const read = () => readConfig('payouts', fields, env(keys))
      expect(read).toThrow(/BANK_DETAILS_KEYS/)
      expect(read).not.toThrow(new RegExp(keys.slice(-12).replace(/[+/=]/g, '.')))
    },
  )
})
