import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { logAlarms } from './alarms'

const sourceOf = (folder: string) =>
  [...new Glob('**/*.ts').scanSync(join(repositoryDir, folder))]
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(repositoryDir, folder, path), 'utf8'))
    .join('\n')
const sources = new Map([...new Set(logAlarms.map(({ source }) => source))].map((folder) => [folder, sourceOf(folder)]))

test('every log alarm of the runbook is a line of its source', () => {
  const missing = logAlarms.flatMap(({ source, lines }) =>
    lines.filter((line) => !sources.get(source)!.includes(line)).map((line) => `${source}: ${line}`),
  )
  expect(missing).toEqual([])
})

test('every log alarm of the runbook is listed once', () => {
  const listed = logAlarms.flatMap(({ source, lines }) => lines.map((line) => `${source}: ${line}`))
  expect(new Set(listed).size).toBe(listed.length)
})
