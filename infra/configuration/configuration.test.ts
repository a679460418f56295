import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { localStack } from '#infra/compose/composition'
import { repositoryDir } from '#infra/local/folders'
import { importsOf, names } from '#test/imports'
import { composeVariables } from './compose-variables'
import { exampleDocument, examplePath, variablesOf } from './documents'
import { exampleOf } from './example'
import { mainnetEndpoints, mainnetValues } from './mainnet'
import { processes } from './processes'
import { rowsOf } from './rows'
import { neverKept, testnetValues } from './testnet'

const remedy = 'out of date: bun run generate configuration'
const rows = [...rowsOf(processes), ...composeVariables]

describe('env.example', () => {
  test('env.example is up to date', () => {
    expect(readFileSync(examplePath, 'utf8') === exampleDocument() || remedy).toBe(true)
  })

  test('env.example lists every variable of every process once', () => {
    const listed = [...exampleDocument().matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name)
    const names = Object.values(processes).flatMap((fields) => Object.keys(fields))
    expect(listed.toSorted()).toEqual([...new Set(listed)].toSorted())
    expect([...new Set(names)].filter((name) => !listed.includes(name) && !neverKept.has(name))).toEqual([])
  })

  test('every variable that compose takes has help, and every variable of compose alone is taken', () => {
    const known = new Set(rows.map(({ name }) => name))
    const taken = variablesOf(localStack())
    expect(taken.filter((name) => !known.has(name))).toEqual([])
    expect(composeVariables.map(({ name }) => name).filter((name) => !taken.includes(name))).toEqual([])
  })

  test('every variable that a deployment proposes, or never keeps, exists', () => {
    const known = new Set(rows.map(({ name }) => name))
    expect(
      [...testnetValues.keys(), ...mainnetValues.keys(), ...neverKept.keys()].filter((name) => !known.has(name)),
    ).toEqual([])
  })

  test('every file that declares variables of a process is among the processes', () => {
    const declaring = [...new Glob('{services,infra}/**/*.ts').scanSync(repositoryDir)].filter((path) =>
      /^export const fields\b/m.test(readFileSync(join(repositoryDir, path), 'utf8')),
    )
    const { files } = importsOf(repositoryDir, 'infra/configuration/processes.ts', names)
    expect(declaring.length).toBeGreaterThan(8)
    expect(declaring.filter((path) => !files.includes(path))).toEqual([])
  })

  test('no secret has a default other than "none" and empty', () => {
    const presets = rows.filter(({ secret }) => secret).map(({ fallback }) => fallback)
    expect([...new Set(presets)].filter((preset) => preset)).toEqual(['none'])
  })
})

describe('every number among the settings', () => {
  const numbers = Object.entries(processes).flatMap(([process, fields]) =>
    Object.entries(fields).flatMap(([name, field]) =>
      /^(integer|milliseconds|amount)/.test(field.type) ? [{ name, process, field }] : [],
    ),
  )
  /** The rest of a setting's rules, such as of a checkout that the provider would not open, are those of the deployment. */
  const local = (name: string) => (name === 'DEPLOYMENT' ? 'local' : undefined)
  const faultOf = (field: (typeof numbers)[number]['field'], value: bigint): string => {
    try {
      field.parse(String(value), local)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }

  test('has a unit, a range and a default within it', () => {
    expect(numbers.length).toBeGreaterThan(80)
    for (const { name, process, field } of numbers) {
      const { range, fallback } = field
      expect([process, name, range]).toEqual([process, name, { least: expect.anything(), most: expect.anything() }])
      if (fallback === undefined || !/^\d+$/.test(fallback)) continue
      expect([name, faultOf(field, BigInt(fallback))]).toEqual([name, ''])
      expect(BigInt(fallback) >= BigInt(range!.least) && BigInt(fallback) <= BigInt(range!.most)).toBe(true)
    }
  })

  test('is refused at the start below and above its range, in words', () => {
    for (const { name, field } of numbers) {
      const { least, most } = field.range!
      const above = BigInt(most) + 1n
      expect([name, faultOf(field, above)]).toEqual([name, expect.stringMatching(/^must be /)])
      if (BigInt(least) > 0n)
        expect([name, faultOf(field, BigInt(least) - 1n)]).toEqual([name, expect.stringMatching(/^must be /)])
    }
  })

  test('is explained with its range in env.example', () => {
    const text = exampleDocument()
    for (const { name, field } of numbers.filter(({ name }) => !neverKept.has(name)))
      expect([name, text.includes(`from ${field.range!.least} to ${field.range!.most}`)]).toEqual([name, true])
  })
})

test('the relayer and the reader together stay below the limit of every public endpoint of the main net', () => {
  const each = Number(mainnetValues.get('RPC_REQUESTS_PER_SECOND'))
  for (const { requestsPerSecond } of mainnetEndpoints) expect(2 * each).toBeLessThan(requestsPerSecond)
  expect(Number(mainnetValues.get('RPC_ETH_CALLS_PER_SECOND'))).toBeLessThanOrEqual(each)
})

describe('rows', () => {
  const field = { type: 'text', about: 'a', secret: false, parse: (raw: string) => raw }
  test('rowsOf merges equal fields of several processes and keeps different ones apart', () => {
    const told = rowsOf({ a: { X: field }, b: { X: field }, c: { X: { ...field, about: 'c' } } })
    expect(told.map(({ name, readers }) => [name, readers])).toEqual([
      ['X', ['a', 'b']],
      ['X', ['c']],
    ])
  })

  test('env.example leaves required values empty, comments defaults out, and sets proposed values', () => {
    const told = rowsOf({ a: { K: field, X: field, Y: { ...field, fallback: '1' }, Z: field } })
    const proposals = { values: new Map([['Z', '2']]), neverKept: new Map([['K', 'Not here.']]) }
    const text = exampleOf([{ title: 'a', names: ['K', 'X', 'Y', 'Z'] }], told, proposals)
    const settings = text.split('\n').filter((line) => /^(# )?[KXYZ]=/.test(line))
    expect(settings).toEqual(['X=', '# Y=1', 'Z=2'])
  })
})
