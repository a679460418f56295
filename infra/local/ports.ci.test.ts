import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { planChain, planKeptChain } from '#infra/local/chain'
import { type Command, startChild } from '#infra/local/child'
import { planNats } from '#infra/local/nats'
import { diedOfItsPort, freePort } from '#infra/local/ports'
import { planPostgres } from '#infra/local/postgres'
import { type NatsUser, natsUsers } from '#infra/nats/server-environment'

let other: Server
let taken = 0
const dir = mkdtempSync(join(tmpdir(), 'ports-'))
const passwords = Object.fromEntries(natsUsers.map((user) => [user, user])) as Record<NatsUser, string>

beforeAll(async () => {
  mkdirSync(join(dir, 'logs'))
  other = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  taken = (other.address() as { port: number }).port
})
afterAll(() => {
  other.close()
  rmSync(dir, { recursive: true, force: true })
})

describe('a program whose port is taken ends, and its log names the reason:', () => {
  const plans: Record<string, () => Command | Promise<Command>> = {
    postgres: async () => (await planPostgres({ dir, port: taken, password: 'word', durable: false })).command,
    'nats-server': async () => planNats({ dir, port: taken, monitorPort: await freePort(), passwords }),
    'the monitor of nats-server': async () => planNats({ dir, port: await freePort(), monitorPort: taken, passwords }),
    'the chain': () => planChain({ dir, port: taken }),
    'the chain that keeps its blocks': () => planKeptChain({ dir, port: taken }),
  }
  test.each(Object.keys(plans))('%s ends if its port is taken, and its log names the reason', async (name) => {
    const logFile = join(dir, `logs/${name}.log`)
    const child = startChild({ ...(await plans[name]!()), logFile })
    await child.exited
    expect(diedOfItsPort(logFile)).toBe(true)
  })
})
