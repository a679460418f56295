import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { mayRunPrograms, reachableCopy } from '#infra/local/folders'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('programs in a folder that a shell cannot name are copied, for every user in spite of a umask of 077', async () => {
  const source = mkdtempSync(join(tmpdir(), 'my $code-'))
  const before = process.umask(0o077)
  let copy = ''
  try {
    mkdirSync(join(source, 'bin'))
    writeFileSync(join(source, 'bin/program'), '', { mode: 0o700 })
    writeFileSync(join(source, 'bin/data'), '', { mode: 0o600 })
    copy = await reachableCopy(source, `programs-${process.pid}`)
    expect(basename(copy)).toStartWith('programs-')
    expect(['', 'bin', 'bin/program', 'bin/data'].map((path) => modeOf(join(copy, path)))).toEqual([
      '755',
      '755',
      '755',
      '644',
    ])
    expect(await reachableCopy(source, `programs-${process.pid}`)).toBe(copy)
  } finally {
    process.umask(before)
    for (const path of [source, copy]) rmSync(path, { recursive: true, force: true })
  }
})

const mounts = [
  '/dev/vda / ext4 rw',
  'tmpfs /proc tmpfs rw,noexec',
  'tmpfs /proc/self tmpfs rw',
  'tmpfs /sy tmpfs noexec',
].join('\n')

test.each([
  ['/', true],
  ['/proc', false],
  ['/proc/sys', false],
  ['/sys', true],
])('whether programs may run in %s is decided by its innermost mount: %p', (dir, may) => {
  expect(mayRunPrograms(dir, mounts)).toBe(may)
  expect(mayRunPrograms(dir, '')).toBe(true)
})
