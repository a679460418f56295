import { expect, test } from 'bun:test'
import { deployedValue } from '#infra/configuration/deployed'
import { differences } from '#infra/local/differences'
import { type Changes, liftedLimits, quickChecks, soonerTimes } from './settings'
import { changesOf } from './stack'

const settingsOf = (changes: Changes) =>
  Object.entries(changes)
    .filter(([name]) => name !== 'sandbox')
    .flatMap(([name, env]) => Object.entries(env).map(([setting, value]) => ({ name, setting, value })))

test.each(Object.entries({ soonerTimes, liftedLimits, quickChecks }))(
  'each setting of %s is one of its process, and differs from a deployment',
  (_, changes) => {
    const all = settingsOf(changes)
    expect(all.filter(({ name, setting, value }) => [undefined, value].includes(deployedValue(name, setting)))).toEqual(
      [],
    )
    expect(all.length).toBeGreaterThan(0)
  },
)

test("a suite that asks for a deployment's times and limits gets them, also those that `bun run start` lifts", () => {
  const own = changesOf({ times: 'deployed', limits: 'deployed', env: { payments: { RECHECK_AFTER_MS: '1' } } })
  const changed = settingsOf(own).filter(({ name, setting, value }) => value !== deployedValue(name, setting))
  expect(changed).toEqual([{ name: 'payments', setting: 'RECHECK_AFTER_MS', value: '1' }])
  const lifted = differences.filter(({ setting }) => /_PER_(?:SECOND|MINUTE)$|_COUNT_MAX$|_DAY_MAX$/.test(setting))
  for (const { setting } of lifted) expect(settingsOf(own).map((one) => one.setting)).toContain(setting)
})
