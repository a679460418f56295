import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { logged as listedLines } from '#infra/operations/alerts/catalogue'
import { limitedStates } from '#infra/operations/alerts/state-limits'
import { alarmLinesIn } from './alarm-lines'

const read = (path: string) => readFileSync(join(repositoryDir, path), 'utf8')
const isSource = (path: string) => !/\.(test|suite)\.ts$|test-support/.test(path)
const paths = [...new Glob('{services,shared,infra}/**/*.ts').scanSync(repositoryDir)].filter(isSource)
const logged = paths.map((path) => ({ path, ...alarmLinesIn(read(path)) }))

/** Returns the folder that the runbook names, or the path itself if the runbook names none. */
const sourceOf = (path: string) => listedLines.find(({ source }) => path.startsWith(`${source}/`))?.source ?? path

const listed = listedLines.flatMap(({ source, lines }) => lines.map((line) => `${source}: ${line}`))
const limited = limitedStates.map(({ service, alarm }) => `services/${service}: ${alarm}`)

/** The fields `alarm` of these files are values that another file logs. */
const tables = ['services/chain-relayer/chain/errors.ts', 'shared/platform/metrics/state-limits.ts']

describe('the log lines of the alerts', () => {
  test('are the lines that the sources log with the field alarm, neither more nor fewer', () => {
    const found = logged.flatMap(({ path, lines }) => lines.map((line) => `${sourceOf(path)}: ${line}`))
    expect([...new Set(found)].sort()).toEqual([...new Set([...listed, ...limited])].sort())
  })

  test('are each listed once', () => {
    expect(new Set(listed).size).toBe(listed.length)
  })

  test('can be followed from every field alarm in the sources to a message', () => {
    const unread = logged.filter(({ path }) => !tables.includes(path))
    expect(unread.flatMap(({ path, unread: lines }) => lines.map((line) => `${path}: ${line}`))).toEqual([])
  })
})

describe('a field alarm in a source', () => {
  const call = "log.error({ id, alarm: true }, 'AUSD is missing')"
  test.each([
    ['in the call itself', call],
    ['of a level that depends on it', "log[alarm ? 'error' : 'warn']({ id, alarm }, 'AUSD is missing')"],
    ['in a constant', "const fields = { id, alarm: isLate }\nlog.error(fields, 'AUSD is missing')"],
    ['in a constant that is spread', "const fields = { alarm: true }\nlog.error({ ...fields, id }, 'AUSD is missing')"],
    ['in a spread that depends on it', "log.warn({ id, ...(alarm && { alarm }) }, 'AUSD is missing')"],
    ['behind a key', "context.logThrottled('use' + id, { alarm: true, id }, 'AUSD is missing')"],
    ['next to brackets in texts', `const end = ')}', open = /[({]/\n${call}`],
    ['as the line of a limit', "const limits = { taking: { afterMs: 1, alarm: 'AUSD is missing' } }"],
  ])('leads to its message, %s', (_, source) => {
    expect(alarmLinesIn(source)).toEqual({ lines: ['AUSD is missing'], unread: [] })
  })

  test('leads to both messages of a choice, and to the start of a template', () => {
    const source = `log.error({ alarm: true }, isFirst ? 'no AUSD' : \`no AUSD: \${count} of \${all}\`)`
    expect(alarmLinesIn(source).lines).toEqual(['no AUSD', 'no AUSD: '])
  })

  test('that is false, read from an object, of a type or in a comment leads to no message', () => {
    const source =
      "type Line = { alarm: boolean } // alarm: true\nconst { alarm } = line\nlog.warn({ alarm: false }, 'slow')"
    expect(alarmLinesIn(source)).toEqual({ lines: [], unread: [] })
  })

  test.each([
    'const line = { alarm: true }\nreturn line',
    'log.error({ alarm: true }, message)',
    "const fields = { alarm: true }\nlog.error(fields, message)\nlog.error(fields, 'AUSD is missing')",
  ])('is reported if its message cannot be read: %s', (source) => {
    expect(alarmLinesIn(source).unread).toHaveLength(1)
  })
})
