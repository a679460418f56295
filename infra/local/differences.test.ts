import { describe, expect, test } from 'bun:test'
import { localVariables } from '#infra/compose/composition'
import { composeVariables } from '#infra/configuration/compose-variables'
import { deployedValue } from '#infra/configuration/deployed'
import { processes } from '#infra/configuration/processes'
import { deployedInstead, differences } from '#infra/local/differences'

const names = Object.keys(processes)

describe('the table of differences', () => {
  test.each(differences.map((one) => [one.setting, one] as const))(
    '%s is a setting of a process, and differs from a deployment',
    (setting, one) => {
      expect(names.filter((name) => setting in processes[name]!)).not.toEqual([])
      expect(one.here).not.toBe(deployedInstead(one))
    },
  )

  test('the composition on this machine differs from a deployment only where the table says so', () => {
    const listed = new Set(differences.map(({ setting }) => setting))
    const different = Object.entries(localVariables()).filter(([setting, value]) =>
      names.some((name) => ![undefined, value].includes(deployedValue(name, setting))),
    )
    expect(different.filter(([setting]) => !listed.has(setting))).toEqual([])
    for (const { setting, here, deployed } of differences)
      if (deployed === undefined && setting in localVariables())
        expect([setting, localVariables()[setting]]).toEqual([setting, here])
  })

  test('each variable of .env is one that compose or a process reads', () => {
    const known = new Set([
      ...composeVariables.map(({ name }) => name),
      ...names.flatMap((name) => Object.keys(processes[name]!)),
    ])
    expect(Object.keys(localVariables()).filter((name) => !known.has(name))).toEqual(['COMPOSE_FILE'])
  })

  test('the composition on this machine proposes every value that a deployment on the test chain does', () => {
    const listed = new Set(differences.map(({ setting }) => setting))
    const missing = names.flatMap((name) =>
      Object.entries(processes[name]!)
        .filter(([setting, { fallback }]) => {
          const value = deployedValue(name, setting)
          return value !== undefined && value !== fallback && !listed.has(setting)
        })
        .filter(([setting]) => localVariables()[setting] !== deployedValue(name, setting))
        .map(([setting]) => setting),
    )
    expect([...new Set(missing)]).toEqual([])
  })
})
