import { afterAll, expect, test } from 'bun:test'
import { createConnection, createServer, type Socket } from 'node:net'
import { openBus } from '#shared/bus/open'
import { openLog } from '#shared/log'
import { startScratchServer } from '#test/support/scratch-server'

const server = await startScratchServer()
afterAll(() => server[Symbol.asyncDispose]())

/** A port before nats-server that takes the first connections and says nothing on them. */
async function openSilentFor(connections: number) {
  const open: Socket[] = []
  let taken = 0
  const door = createServer((socket) => {
    open.push(socket)
    socket.on('error', () => {})
    if (taken++ < connections) return
    const real = createConnection(Number(new URL(server.url).port), '127.0.0.1')
    open.push(real)
    real.on('error', () => {})
    socket.pipe(real).pipe(socket)
  })
  await new Promise<void>((listening) => door.listen(0, '127.0.0.1', listening))
  const { port } = door.address() as { port: number }
  return {
    url: `nats://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      for (const socket of open) socket.destroy()
      door.close()
    },
  }
}

test('a first connection on which nobody speaks is given up, and made anew', async () => {
  using door = await openSilentFor(1)
  const log = openLog('gateway', 'silent')
  const as = { user: 'gateway', password: server.passwords.gateway, name: 'gateway' }
  await using bus = await openBus({ ...as, url: door.url, log, onFatal: () => {} })
  await bus.nc.flush()
  expect(bus.nc.isClosed()).toBe(false)
}, 15_000)
