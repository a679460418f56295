import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { localStack } from '#infra/compose/composition'
import { composeVariables } from './compose-variables'
import { documents, examplePath, tablePath, variablesOf } from './documents'
import { exampleOf } from './example'
import { processes } from './processes'
import { rowsOf } from './rows'
import { allServices } from './table'

const remedy = 'out of date: bun run generate configuration'
const rows = [...rowsOf(processes), ...composeVariables]
/** The processes in the column "Read by". */
const readersIn = (line: string): string[] =>
  line
    .split(' | ')[2]!
    .split(', ')
    .flatMap((reader) => (reader === 'all services' ? allServices : [reader]))

describe('the generated documents', () => {
  test('CONFIGURATION.md is what the configurations say today', () => {
    expect(readFileSync(tablePath, 'utf8') === documents().table || remedy).toBe(true)
  })

  test('env.example is what the configurations and compose.yaml say today', () => {
    expect(readFileSync(examplePath, 'utf8') === documents().example || remedy).toBe(true)
  })

  test('every variable of every process is in the table, with its reader', () => {
    const { table } = documents()
    for (const [reader, fields] of Object.entries(processes))
      for (const name of Object.keys(fields)) {
        const lines = table.split('\n').filter((line) => line.startsWith(`\`${name}\` |`))
        expect(lines.map((line) => readersIn(line).includes(reader))).toEqual([true])
      }
  })

  test('every variable that compose takes is explained', () => {
    const known = new Set(rows.map(({ name }) => name))
    const taken = variablesOf(localStack())
    expect(taken.filter((name) => !known.has(name))).toEqual([])
  })

  test('no default of a secret is written anywhere, but "none" and empty', () => {
    const presets = rows.filter(({ secret }) => secret).map(({ fallback }) => fallback)
    expect([...new Set(presets)].filter((preset) => preset)).toEqual(['none'])
  })
})

describe('rows', () => {
  const field = { type: 'text', about: 'a', secret: false, parse: (raw: string) => raw }
  test('of one meaning are one, of two meanings are two', () => {
    const told = rowsOf({ a: { X: field }, b: { X: field }, c: { X: { ...field, about: 'c' } } })
    expect(told.map(({ name, readers }) => [name, readers])).toEqual([
      ['X', ['a', 'b']],
      ['X', ['c']],
    ])
  })

  test('in env.example: required is to be filled in, a default is shown, a proposal stands', () => {
    const told = rowsOf({ a: { K: field, X: field, Y: { ...field, fallback: '1' }, Z: field } })
    const proposals = { values: new Map([['Z', '2']]), neverKept: new Map([['K', 'Not here.']]) }
    const text = exampleOf([{ title: 'a', names: ['K', 'X', 'Y', 'Z'] }], told, proposals)
    const settings = text.split('\n').filter((line) => /^(# )?[KXYZ]=/.test(line))
    expect(settings).toEqual(['X=', '# Y=1', 'Z=2'])
  })
})
