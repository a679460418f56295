import { afterAll, expect, test } from 'bun:test'
import { isEngine } from './power-cut'

const socket = 'unix:///tmp/some-engine/sock/docker.sock'
/** Starts a process with these words in its command, which waits. */
const waiting = (...words: string[]) => Bun.spawn(['sh', '-c', 'read line', ...words], { stdin: 'pipe' })
const engine = waiting('/usr/sbin/dockerd', '--host', socket)
const other = waiting('/usr/sbin/dockerd', '--host', 'unix:///run/docker.sock')
afterAll(() => {
  engine.kill()
  other.kill()
})

test('a process id that a killed rehearsal left is its engine only if that process listens on its socket', () => {
  expect(isEngine(engine.pid, socket)).toBe(true)
  // The system has given the id to another process.
  expect([isEngine(other.pid, socket), isEngine(process.pid, socket)]).toEqual([false, false])
})

test('a process id that a killed rehearsal left is not an engine if the process has ended', () => {
  expect(isEngine(2 ** 22 + 1, socket)).toBe(false)
})
