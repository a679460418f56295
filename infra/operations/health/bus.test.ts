import { expect, test } from 'bun:test'
import { openBus } from '#platform/bus/open'
import { openLog } from '#platform/log'
import { provisionNats, startScratchServer } from '#test/support/scratch-server'
import { readBus } from './bus'

test('a durable consumer that is gone is named, and the others are read', async () => {
  await using server = await startScratchServer()
  const { url, passwords } = server
  await provisionNats({ url, user: 'admin', password: passwords.admin })
  const admin = await server.connectAs('admin')
  const log = openLog('operations', 'silent')
  const user = 'operations'
  await using bus = await openBus({ url, user, password: passwords.operations, name: user, log, onFatal: () => {} })
  const before = await readBus(async () => bus)
  expect(before.missing).toEqual([])
  await (await admin.jetstreamManager()).consumers.delete('EVENTS', 'payments')
  await admin.close()
  const { missing, lags } = await readBus(async () => bus)
  expect(missing).toEqual([{ reader: 'payments', stream: 'EVENTS' }])
  expect(lags).toHaveLength(before.lags.length - 1)
})
