import { expect, test } from 'bun:test'
import { openRandom } from '#infra/sandbox/random'
import { feedLeaseMs } from '#shared/messages/operations'
import { serviceNames } from '#shared/messages/topic'
import type { World } from './drivers/stack'
import { faultKinds, faultsWith, frozenMs, targetOf } from './faults'

test('a fault whose start was carried out but not answered is ended', async () => {
  const fault = faultsWith(new Map()).find(({ name }) => name === 'webhooks are lost')!
  const settings: object[] = []
  const faults = async (wanted: object) => {
    settings.push(wanted)
    if (settings.length === 1) throw new Error('the answer was lost')
    return true
  }
  const world = { outside: { faults } } as unknown as World
  await expect(Promise.resolve(fault.begin(world, openRandom()))).rejects.toThrow('was lost')
  expect(settings.at(-1)).toEqual({ webhooks: expect.objectContaining({ drop: 0 }) })
})

test('every service, also the gateway, is frozen for longer than any lease that an instance holds', () => {
  const names = faultsWith(new Map()).map(({ name }) => name)
  for (const name of serviceNames)
    for (const instance of [name, `${name} (second instance)`])
      expect(names).toContain(`${instance} is frozen for longer than its leases`)
  expect(frozenMs[1]).toBeGreaterThan(feedLeaseMs)
})

test('the two instances of a service are never frozen for long at the same time', () => {
  for (const name of serviceNames) {
    const [one, other] = faultsWith(new Map()).filter(
      ({ kind, targets }) => kind === 'freeze' && targets.some((target) => target.startsWith(`${name} `)),
    )
    expect(one!.targets.filter((target) => other!.targets.includes(target))).toHaveLength(1)
  }
})

test('every kind of fault has a fault', () => {
  const kinds = new Set(faultsWith(new Map(serviceNames.map((name) => [name, ['a step']]))).map(({ kind }) => kind))
  expect([...kinds].sort()).toEqual([...faultKinds].sort())
})

test('after an upgrade has stopped the first instances, the second ones are still killed between two steps', () => {
  const retired = new Set(serviceNames.map((name) => targetOf(name, 1)))
  const faults = faultsWith(new Map(serviceNames.map((name) => [name, ['a step']])))
  const left = faults.filter(({ targets }) => !targets.some((target) => retired.has(target))).map(({ name }) => name)
  for (const name of serviceNames) expect(left).toContain(`an instance of ${name} is killed between two steps`)
})
