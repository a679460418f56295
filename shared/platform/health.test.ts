import { afterAll, afterEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '#infra/local/wait'
import { startHealthFile } from '#platform/health'
import { openLog } from '#platform/log'

const dir = mkdtempSync(join(tmpdir(), 'alive-'))
const file = join(dir, 'alive')
afterEach(() => rmSync(file, { force: true }))
afterAll(() => rmSync(dir, { recursive: true }))
const log = openLog('gateway', 'fatal')

test('a healthy process writes its liveness file at once and removes it at the end', async () => {
  const vitals = [{ name: 'bus', ask: async () => {} }]
  {
    await using _ = startHealthFile(file, vitals, log)
    await waitUntil('the file', () => existsSync(file))
  }
  expect(existsSync(file)).toBe(false)
})

test.each([
  ['refuses', () => Promise.reject(new Error('no'))],
  ['hangs', () => new Promise(() => {})],
])('a process whose database %s does not write its liveness file', async (_, ask) => {
  const asked = Promise.withResolvers<void>()
  const database = () => {
    asked.resolve()
    return ask()
  }
  const vitals = [
    { name: 'bus', ask: async () => {} },
    { name: 'database', ask: database },
  ]
  await using _beating = startHealthFile(file, vitals, log)
  await asked.promise
  expect(existsSync(file)).toBe(false)
})
