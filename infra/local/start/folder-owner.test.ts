import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStackFile, stackFilePath } from '#infra/local/stack-file'
import { assertFree, FolderTaken, isAbandoned, ownFolder } from './folder-owner'
import { describeRunning } from './running'

const dir = mkdtempSync(join(tmpdir(), 'owner-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function elsewhere() {
  const script = `
    const { ownFolder } = await import(${JSON.stringify(join(import.meta.dir, 'folder-owner'))})
    globalThis.owned = ownFolder(${JSON.stringify(dir)})
    console.log('owned')
    setInterval(() => {}, 1_000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  expect(new TextDecoder().decode(value)).toBe('owned\n')
  return child
}

test('a folder has one owner, whose name the next start reports', () => {
  const owned = ownFolder(dir)
  expect(() => ownFolder(dir)).toThrow(FolderTaken)
  expect(() => ownFolder(dir)).toThrow(`process ${process.pid}`)
  owned[Symbol.dispose]()
  ownFolder(dir)[Symbol.dispose]()
})

test('a killed owner loses the folder, and its stack counts as gone', async () => {
  const child = await elsewhere()
  try {
    writeFileSync(stackFilePath(dir), '{"gateway":"http://127.0.0.1:1"}')
    expect(() => ownFolder(dir)).toThrow(`process ${child.pid}`)
    expect(isAbandoned(dir)).toBe(false)
    expect(readStackFile(dir).gateway).toBe('http://127.0.0.1:1')
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
  expect(isAbandoned(dir)).toBe(true)
  expect(() => readStackFile(dir)).toThrow('no stack is running')
  ownFolder(dir)[Symbol.dispose]()
})

test('a lock file with any content is a lock', () => {
  writeFileSync(join(dir, 'stack.lock'), 'hello')
  expect(isAbandoned(dir)).toBe(true)
  writeFileSync(join(dir, 'stack.lock'), 'hello')
  const owned = ownFolder(dir)
  expect(() => assertFree(dir)).toThrow(FolderTaken)
  owned[Symbol.dispose]()
  assertFree(dir)
})

test('an invalid lock is reported', () => {
  const other = mkdtempSync(join(dir, 'folder-'))
  mkdirSync(join(other, 'stack.lock'))
  expect(() => ownFolder(other)).toThrow(`${other}/stack.lock cannot be used as a lock`)
})

test('a start during the end of a stack reports that it is ending, not that it is starting', async () => {
  const owned = ownFolder(dir)
  owned.ending()
  const taken = await Promise.try(() => assertFree(dir)).catch((error) => error as FolderTaken)
  expect(await describeRunning(taken as FolderTaken)).toContain('is shutting down')
  owned[Symbol.dispose]()
})

test('a stack file that was not written by a start is used as it is', () => {
  const other = join(dir, 'compose')
  expect(isAbandoned(other)).toBe(false)
})
