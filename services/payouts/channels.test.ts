import { describe, expect, test } from 'bun:test'
import { openLog } from '#shared/log'
import { openChannels } from './channels.ts'

const bca = { code: 'ID_BCA', minMinor: 1n, maxMinor: 9n, incrementMinor: 1n }
const log = openLog('payouts', 'silent')

function openList() {
  const state = { nowMs: 0, asked: 0, down: false }
  const listChannels = async () => {
    state.asked += 1
    if (state.down) throw new Error('down')
    return [bca]
  }
  const channels = openChannels({
    ...{ provider: { listChannels }, refreshMs: 60_000, clock: () => state.nowMs, log },
  })
  return { state, channels }
}

describe('the list of banks', () => {
  test('is fetched once for all who ask at once, and again when it is old', async () => {
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
  test('that is old serves while the provider is down', async () => {
    const { state, channels } = openList()
    await channels.find('ID_BCA')
    Object.assign(state, { down: true, nowMs: 60_000 })
    expect(await channels.find('ID_BCA')).toEqual(bca)
    expect(await channels.find('ID_BCA')).toEqual(bca)
    expect(state.asked).toBe(2)
  })
  test('that never came is asked for by whoever needs it', async () => {
    const { state, channels } = openList()
    state.down = true
    await expect(channels.find('ID_BCA')).rejects.toThrow('down')
    state.down = false
    expect(await channels.find('ID_BCA')).toEqual(bca)
  })
})
