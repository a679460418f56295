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
/** The processes in the column "Read by", or else the section of a line. */
const readersIn = (line: string, section: string): string[] =>
  section === 'Several processes'
    ? line
        .split(' | ')[2]!
        .split(', ')
        .flatMap((reader) => (reader === 'all services' ? allServices : [reader]))
    : [section]

describe('the generated documents', () => {
  test('CONFIGURATION.md is what the configurations say today', () => {
    expect(readFileSync(tablePath, 'utf8') === documents().table || remedy).toBe(true)
  })

  test('env.example is what the configurations and compose.yaml say today', () => {
    expect(readFileSync(examplePath, 'utf8') === documents().example || remedy).toBe(true)
  })

  test('every variable of every process is in the table, with its reader', () => {
    const sections = documents()
      .table.split(/^## /m)
      .slice(1)
      .map((text) => text.split('\n'))
    for (const [reader, fields] of Object.entries(processes))
      for (const name of Object.keys(fields)) {
        const readers = sections.flatMap(([title, ...lines]) =>
          lines
            .filter((line) => line.startsWith(`\`${name}\` |`))
            .map((line) => readersIn(line, title!)),
        )
        expect(readers).toHaveLength(1)
        expect(readers[0]).toContain(reader)
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
