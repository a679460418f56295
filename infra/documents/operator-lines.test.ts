import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'

const read = (path: string) => readFileSync(join(repositoryDir, path), 'utf8')
const sources = ['services', 'shared', 'infra/operations']
  .flatMap((folder) => [...new Glob(`${folder}/**/*.ts`).scanSync(repositoryDir)])
  .filter((path) => !/\.(test|suite)\.ts$|test-support/.test(path))
  .map((path) => ({ path, text: read(path) }))

const words = 'by operator'

test('the runbook finds the commands that a restore loses in the logs, by the words that each of their lines has', () => {
  expect(read('infra/operations/runbook/restore.md')).toContain(`\`${words}\``)
  const naming = /log\.\w+\(\s*\{[^}\n]*\bby\b[^}\n]*\},\s*['`]([^'`\n]*)/g
  const mentioning = /log\.\w+\([^()\n]*['`]([^'`\n]*\boperator\b[^'`\n]*)['`]/g
  const lines = sources.flatMap(({ path, text }) =>
    [naming, mentioning].flatMap((form) => [...text.matchAll(form)].map(([, line]) => `${path}: ${line}`)),
  )
  expect(new Set(lines).size).toBeGreaterThan(15)
  expect(lines.filter((line) => !line.includes(words))).toEqual([])
})
