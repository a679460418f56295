import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { planPostgres } from '#infra/local/postgres'
import { bootStack } from '#infra/local/stack'
import { natsUsers, passwordVariable } from '#infra/nats/server-environment'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { startScratchServer } from '#test/support/scratch-server'
import { ownStack } from '#test/support/stack'

const dir = mkdtempSync(join(tmpdir(), 'own-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('whoever makes a cluster of Postgres goes on meanwhile: a nats-server waits two seconds for a sign-in', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  const { home } = await planPostgres({ dir, port: 1, password: 'word', durable: false })
  clearInterval(timer)
  rmSync(home, { recursive: true, force: true })
  expect(turns).toBeGreaterThan(10)
})

test('a stack runs on a Postgres and a NATS of the user', async () => {
  await using nats = await startScratchServer()
  await using postgres = await startScratchPostgres('empty')
  const passwords = natsUsers.map((user) => [passwordVariable(user), nats.passwords[user]])
  const own = { NATS_URL: nats.url, DATABASE_URL: postgres.adminUrl }
  await using stack = await ownStack({ own: { ...own, ...Object.fromEntries(passwords) } })
  expect(stack.info.nats.url).toBe(nats.url)
  expect(stack.adminUrl).toBe(postgres.adminUrl)
  expect(() => stack.process('postgres')).toThrow('does not run')
  expect((await fetch(`${stack.info.gateway}/ready`)).status).toBe(200)
})

test('one that does not know us is told apart from one that is away', async () => {
  await using postgres = await startScratchPostgres('empty')
  const boot = (DATABASE_URL: string) =>
    bootStack({ dir, ports: 'free', durable: false, own: { DATABASE_URL } })
  const stranger = postgres.urlAs('stranger', 'word')
  await expect(boot(stranger)).rejects.toThrow('password authentication failed')
})
