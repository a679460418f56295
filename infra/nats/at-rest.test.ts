import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { provisionNats, startScratchServer } from '#test/support/scratch-server'

const secret = 'text-of-a-stored-message'

const isReadable = (dir: string): boolean =>
  readdirSync(dir, { recursive: true })
    .map((name) => join(dir, String(name)))
    .some((file) => statSync(file).isFile() && readFileSync(file).includes(secret))

test.each([
  ['with a key the store cannot be read on disk, and survives a restart', 'a key of the suite'],
  ['without a key it can be read', ''],
])('%s', async (_, storeKey) => {
  await using server = await startScratchServer(storeKey)
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
  const gateway = await server.connectAs('gateway')
  await gateway.jetstream().publish(paymentsWebhookSubject('ID', 'payments', 'dlv_1'), secret)
  await gateway.close()
  await server.stop()
  expect(isReadable(server.storeDir)).toBe(storeKey === '')
  await server.start()
  const admin = await server.connectAs('admin')
  const { streams } = await admin.jetstreamManager()
  expect((await streams.getMessage('WEBHOOKS', { seq: 1 })).string()).toBe(secret)
  await admin.close()
})

test('with the old key as the previous one, a new key encrypts the streams again, and opens them alone from then on', async () => {
  const opened = /^ {2}key: .*$/m
  await using server = await startScratchServer('the first key')
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
  const gateway = await server.connectAs('gateway')
  await gateway.jetstream().publish(paymentsWebhookSubject('ID', 'payments', 'dlv_1'), secret)
  await gateway.close()
  const storedWith = async (keys: string) => {
    await server.stop()
    server.change((conf) => conf.replace(opened, keys))
    await server.start()
    const admin = await server.connectAs('admin')
    const { streams } = await admin.jetstreamManager()
    const stored = (await streams.getMessage('WEBHOOKS', { seq: 1 })).string()
    await admin.close()
    return stored
  }
  expect(await storedWith('  key: "the second key"\n  prev_key: "the first key"')).toBe(secret)
  expect(await storedWith('  key: "the second key"')).toBe(secret)
})
