import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '#infra/local/child'
import { onSlowDisk } from '#infra/local/slow-disk'

test.skipIf(!Bun.which('strace'))(
  'each sync of a process on a slow disk takes longer, also those of its children',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'slow-disk-'))
    try {
      const write = `dd if=/dev/zero of=${join(dir, 'file')} count=1 conv=fsync status=none`
      const command = {
        name: 'writer',
        bin: 'sh',
        args: ['-c', `${write}; ${write}`],
        env: {},
        logFile: join(dir, 'log'),
      }
      const beganAt = performance.now()
      expect(await startChild(onSlowDisk(command, 150)).exited).toBe('exit 0')
      expect(performance.now() - beganAt).toBeGreaterThan(300)
    } finally {
      rmSync(dir, { recursive: true })
    }
  },
)
