import { afterAll, expect, setSystemTime, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import { getServers, setServers } from 'node:dns'
import { createConnection, createServer, type Socket } from 'node:net'
import { openBus } from '#platform/bus/open'
import { openLog } from '#platform/log'
import { startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'

const server = await startScratchServer()
afterAll(() => server[Symbol.asyncDispose]())

/** Opens a proxy that accepts these connections, counted from 0, and stays silent. */
async function openSilentFor(...connections: number[]) {
  const open: Socket[] = []
  let taken = 0
  const door = createServer((socket) => {
    open.push(socket)
    socket.on('error', () => {})
    if (connections.includes(taken++)) return
    const real = createConnection(Number(new URL(server.url).port), '127.0.0.1')
    open.push(real)
    real.on('error', () => {})
    socket.pipe(real).pipe(socket)
  })
  await new Promise<void>((listening) => door.listen(0, '127.0.0.1', listening))
  const { port } = door.address() as { port: number }
  return {
    url: `nats://127.0.0.1:${port}`,
    cut: () => {
      for (const socket of open) socket.destroy()
    },
    [Symbol.dispose]: () => {
      for (const socket of open) socket.destroy()
      door.close()
    },
  }
}

async function openNameServer() {
  const before = getServers()
  const socket = createSocket('udp4')
  socket.on('message', (asked, from) => {
    const question = asked.subarray(12, asked.indexOf(0, 12) + 5)
    const isForAddress = question.at(-3) === 1
    const head = [...asked.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isForAddress ? 1 : 0, 0, 0, 0, 0]
    const answer = isForAddress ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1] : []
    socket.send(Uint8Array.from([...head, ...question, ...answer]), from.port, from.address)
  })
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound))
  setServers([`127.0.0.1:${socket.address().port}`])
  return {
    [Symbol.dispose]: () => {
      setServers(before)
      socket.close()
    },
  }
}

test('a lost server is looked up by name again, because its address may have changed', async () => {
  using _names = await openNameServer()
  const gone = await startScratchServer()
  const url = `nats://localhost:${new URL(gone.url).port}`
  const log = openLog('gateway', 'silent')
  const as = { user: 'gateway', password: gone.passwords.gateway, name: 'gateway' }
  await using bus = await openBus({ ...as, url, log, onFatal: () => {} })
  const asked: unknown[] = []
  void (async () => {
    for await (const { type, data } of bus.nc.status()) if (type === 'reconnecting') asked.push(data)
  })()
  await gone[Symbol.asyncDispose]()
  await waitUntil('a few attempts', () => asked.length > 3)
  expect([...new Set(asked)]).toEqual([new URL(url).host])
})

test('a first connection without a response is dropped and made again', async () => {
  using door = await openSilentFor(0)
  const log = openLog('gateway', 'silent')
  const as = { user: 'gateway', password: server.passwords.gateway, name: 'gateway' }
  await using bus = await openBus({ ...as, url: door.url, log, onFatal: () => {} })
  await bus.nc.flush()
  expect(bus.nc.isClosed()).toBe(false)
})

test('the loss of a server is logged once, and so is its return', async () => {
  const gone = await startScratchServer()
  const lines: { msg: string; level: string; reason?: string }[] = []
  const log = openLog('gateway', 'info', { write: (line) => void lines.push(JSON.parse(line)) })
  const as = { user: 'gateway', password: gone.passwords.gateway, name: 'gateway' }
  await using bus = await openBus({ ...as, url: gone.url, log, onFatal: () => {} })
  let attempts = 0
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnecting') attempts += 1
  })()
  await gone.stop()
  await waitUntil('a few attempts', () => attempts > 3)
  const failure = await bus.nc.request('nobody.there', '', { timeout: 50 }).catch((error) => error)
  log.warn({ err: failure }, 'a call failed')
  await gone.start()
  const told = () => lines.map(({ msg }) => msg)
  await waitUntil('the return', () => told().includes('nats available again'))
  expect(told()).toEqual(['NATS connected', 'nats unavailable', 'nats available again'])
  expect(lines[1]!.reason).toMatch(/REFUSED/)
  await gone[Symbol.asyncDispose]()
})

test('a lost connection is back soon although the clock was set back two hours after the last one', async () => {
  await using server = await startScratchServer()
  const log = openLog('gateway', 'silent')
  const as = { user: 'gateway', password: server.passwords.gateway, name: 'gateway' }
  await using bus = await openBus({ ...as, url: server.url, log, onFatal: () => {} })
  let isBack = false
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnect') isBack = true
  })()
  setSystemTime(new Date(Date.now() - 2 * 3_600_000))
  try {
    await server.stop()
    await server.start()
    await waitUntil('the connection', () => isBack, 15_000)
  } finally {
    setSystemTime()
  }
})

test('a lost connection is back soon although a server accepts the next one and stays silent', async () => {
  using door = await openSilentFor(1)
  const log = openLog('gateway', 'silent')
  const as = { user: 'gateway', password: server.passwords.gateway, name: 'gateway' }
  await using bus = await openBus({ ...as, url: door.url, log, onFatal: () => {} })
  let isBack = false
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnect') isBack = true
  })()
  door.cut()
  // By default nats 2.29 waits 20 s for the silent server.
  await waitUntil('the connection', () => isBack, 15_000)
})
