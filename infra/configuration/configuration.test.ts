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
