import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProcessDeath, supervise } from '#infra/local/supervisor'
import { pause } from '#platform/deadline'

test('a process that is stopped and started while it waits for its restart starts once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'supervisor-'))
  const started: number[] = []
  const died = Promise.withResolvers<ProcessDeath>()
  const one = supervise(
    { name: 'sleeper', bin: 'sleep', args: ['600'], env: {}, logFile: join(dir, 'log') },
    { onDeath: died.resolve, onStart: (_, pid) => void started.push(pid) },
  )
  try {
    one.kill('SIGKILL')
    const { restartInMs } = await died.promise
    await one.stop()
    one.start()
    // This timer is set after the supervisor's own one, so it fires later.
    await pause(restartInMs)
    expect(started).toHaveLength(2)
  } finally {
    await one.stop()
    rmSync(dir, { recursive: true })
  }
})
