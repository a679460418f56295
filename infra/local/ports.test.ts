import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { freePort } from './ports'

/** Returns the lowest port that an outgoing connection gets: as the kernel says, or else by RFC 6335. */
function lowestOutgoing(): number {
  const range = '/proc/sys/net/ipv4/ip_local_port_range'
  return existsSync(range) ? Number(readFileSync(range, 'utf8').split(/\s+/)[0]) : 49_152
}

test('an outgoing connection cannot take a chosen port before its process listens', async () => {
  const lowest = lowestOutgoing()
  for (let i = 0; i < 50; i++) expect(await freePort()).toBeLessThan(lowest)
})

test('ports chosen together differ', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()))
  expect(new Set(ports).size).toBe(50)
})

test('a wanted port is chosen if it is free, and another if not', async () => {
  const wanted = await freePort()
  expect(await freePort(wanted)).toBe(wanted)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve))
  expect(await freePort(wanted)).not.toBe(wanted)
  server.close()
})
