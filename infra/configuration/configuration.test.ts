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
/** The processes named with a variable, or else the section of its line. */
const readersIn = (line: string, name: string, section: string): string[] =>
  section === 'Several processes'
    ? [...line.matchAll(/`([A-Z0-9_]+)[=`][^(]*\(([^);]*)/g)]
        .filter(([, found]) => found === name)
        .flatMap(([, , readers]) => readers!.split(', '))
        .flatMap((reader) => (reader === 'all services' ? allServices : [reader]))
    : [section]

describe('the generated documents', () => {
  test('CONFIGURATION.md is up to date', () => {
    expect(readFileSync(tablePath, 'utf8') === documents().table || remedy).toBe(true)
  })

  test('env.example is up to date', () => {
    expect(readFileSync(examplePath, 'utf8') === documents().example || remedy).toBe(true)
  })

  test('CONFIGURATION.md lists every variable of every process once, with that process', () => {
    const sections = documents()
      .table.split(/^## /m)
      .slice(1)
      .map((text) => text.split('\n'))
    for (const [reader, fields] of Object.entries(processes))
      for (const name of Object.keys(fields)) {
        const readers = sections.flatMap(([title, ...lines]) =>
          lines
            .filter((line) => line.startsWith('- ') && line.match(new RegExp(`\`${name}[=\`]`)))
            .flatMap((line) => readersIn(line, name, title!)),
        )
        expect(readers.filter((one) => one === reader)).toEqual([reader])
      }
  })

  test('every variable that compose takes has help', () => {
    const known = new Set(rows.map(({ name }) => name))
    const taken = variablesOf(localStack())
    expect(taken.filter((name) => !known.has(name))).toEqual([])
  })

  test('no secret has a default other than "none" and empty', () => {
    const presets = rows.filter(({ secret }) => secret).map(({ fallback }) => fallback)
    expect([...new Set(presets)].filter((preset) => preset)).toEqual(['none'])
  })
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
