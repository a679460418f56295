import { expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { migrateAll } from '#infra/migrations/migrate'
import { startScratchPostgres } from '#test/support/scratch-postgres'

const field = (kind: string, text: string) => `${kind}${text}\0`

/** The response of Postgres while it recovers after a kill. */
const starting = (() => {
  const fields = `${field('S', 'FATAL')}${field('C', '57P03')}${field('M', 'the database system is starting up')}\0`
  const message = Buffer.alloc(5 + fields.length)
  message.write('E')
  message.writeUInt32BE(4 + fields.length, 1)
  message.write(fields, 5)
  return message
})()

test('a migration waits for a Postgres that is still recovering, as after `docker compose restart -t 0`', async () => {
  await using server = await startScratchPostgres()
  const url = new URL(server.adminUrl)
  const target = Number(url.port)
  let refused = 0
  const sockets = new Set<Socket>()
  const proxy = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (refused < 3) {
      socket.once('data', () => socket.end(starting))
      refused++
      return
    }
    const onward = connect(target, '127.0.0.1')
    onward.on('error', () => socket.destroy())
    socket.pipe(onward).pipe(socket)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  url.port = String((proxy.address() as { port: number }).port)
  await migrateAll({ adminUrl: url.toString(), passwords: server.passwords, acceptsWithinMs: 60_000 })
  expect(refused).toBe(3)
  for (const socket of sockets) socket.destroy()
  proxy.close()
})
