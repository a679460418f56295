import { afterAll, expect, test } from 'bun:test'
import { isEngine, withoutEngine } from './power-cut'

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

test('the firewall keeps the rules of others after a rehearsal, and none of its engine', () => {
  const engines = [
    ':DOCKER - [0:0]',
    ':DOCKER-ISOLATION-STAGE-1 - [0:0]',
    '-A FORWARD -j DOCKER-USER',
    '-A DOCKER ! -i docker0 -o docker0 -j DROP',
    '-A DOCKER-FORWARD -i br-446b52cb3be5 -j ACCEPT',
    '-A POSTROUTING -s 172.19.0.0/16 ! -o br-446b52cb3be5 -j MASQUERADE',
  ]
  const others = [
    ':OTHERS - [0:0]',
    '-A FORWARD -i wg0 -j ACCEPT',
    '-A POSTROUTING -s 10.0.0.0/8 -o eth0 -j MASQUERADE',
  ]
  const saved = (forward: string, rules: readonly string[]) =>
    ['*filter', `:FORWARD ${forward} [0:0]`, ...rules, 'COMMIT', ''].join('\n')
  expect(withoutEngine(saved('DROP', [...engines, ...others]))).toBe(saved('ACCEPT', others))
})
