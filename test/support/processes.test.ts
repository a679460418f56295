import { expect, test } from 'bun:test'
import { about, childrenOf, descendantsOf, hasEnded } from './processes'

test('nothing is read about a process that has ended', async () => {
  const ended = Bun.spawn(['true'])
  await ended.exited
  expect(about(ended.pid, 'maps')).toBe('')
  expect(descendantsOf(ended.pid)).toEqual([])
  expect(hasEnded(ended.pid)).toBe(true)
})

test('a process is named by its parent and by the parent of that', async () => {
  const shell = Bun.spawn(['sh', '-c', 'sleep 600; true'], { stdin: 'ignore' })
  try {
    expect(childrenOf(process.pid)).toContain(shell.pid)
    while (childrenOf(shell.pid).length === 0) await Bun.sleep(1)
    const [sleeping] = childrenOf(shell.pid)
    expect(descendantsOf(process.pid)).toEqual(expect.arrayContaining([shell.pid, sleeping]))
    expect(hasEnded(sleeping!)).toBe(false)
    process.kill(sleeping!)
  } finally {
    await shell.exited
  }
})
