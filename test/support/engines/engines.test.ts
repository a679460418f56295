import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copy, hasOnlyVanished } from './base-backup'
import { clusterKey } from './cluster'

test.each([
  'test/support/engines/cluster.ts',
  'infra/local/postgres.ts',
  'infra/migrations/roles.ts',
  'infra/migrations/payments/meta/_journal.json',
  'infra/operations/pruning/rules.ts',
])('a change of %s, which makes another cluster, gives the cluster another key', (changed) => {
  const key = clusterKey((path) => (path.endsWith(changed) ? 'changed' : readFileSync(path, 'utf8')))
  expect(key).not.toBe(clusterKey())
})

test('copying a folder that does not exist throws', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'copy-'))
  try {
    await expect(copy(join(dir, 'missing'), join(dir, 'to'))).rejects.toThrow('No such file')
    expect(existsSync(join(dir, 'to'))).toBe(false)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

const vanished = "cp: cannot stat '/data/base/5/t3_16384': No such file or directory\n"
test.each([
  ['vanished files', vanished, true],
  ['a full disk', `${vanished}cp: error writing '/to/base/5/1': No space left on device\n`, false],
  ['a missing target', "cp: cannot create regular file '/to/base/5/1': No such file or directory\n", false],
  ['a missing source', "cp: cannot stat '/data': No such file or directory\n", false],
  ['no reason', '', false],
])('the copy of a running server may fail only for vanished files: %s', (_, said, isForgiven) => {
  expect(hasOnlyVanished(said, '/data')).toBe(isForgiven)
})
