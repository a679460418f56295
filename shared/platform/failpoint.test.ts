import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const dir = mkdtempSync(join(tmpdir(), 'failpoint-'))
const file = join(dir, 'failpoints')
afterAll(() => rmSync(dir, { recursive: true }))

/** Runs a process and returns true if it lives to the end. */
async function lives(...boundaries: string[]): Promise<boolean> {
  const code = `import { failpoint } from '${join(import.meta.dir, 'failpoint')}'
    for (const name of ${JSON.stringify(boundaries)}) failpoint(name)`
  const env = { FAILPOINT_FILE: file, PATH: process.env.PATH ?? '' }
  return (await Bun.spawn([process.execPath, '-e', code], { env }).exited) === 0
}

test('the first process at the first boundary of the file dies there, then the first at the second', async () => {
  writeFileSync(file, 'a\nb\n')
  expect(await lives('b', 'c')).toBe(true)
  expect(await lives('c', 'a', 'b')).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('b\n')
  expect(await lives('a')).toBe(true)
  expect(await lives('b')).toBe(false)
  expect(existsSync(file)).toBe(false)
  expect(await lives('a', 'b')).toBe(true)
})
