import { expect, test } from 'bun:test'
import { openChance } from '#infra/sandbox/random'
import { faultsWith } from './faults'
import type { World } from './world'

test('a fault whose start was carried out but not answered is ended', async () => {
  const fault = faultsWith(new Map()).find(({ name }) => name === 'webhooks are lost')!
  const settings: object[] = []
  const faults = async (wanted: object) => {
    settings.push(wanted)
    if (settings.length === 1) throw new Error('the answer was lost')
    return true
  }
  const world = { outside: { faults } } as unknown as World
  await expect(Promise.resolve(fault.begin(world, openChance()))).rejects.toThrow('was lost')
  expect(settings.at(-1)).toEqual({ webhooks: expect.objectContaining({ drop: 0 }) })
})
