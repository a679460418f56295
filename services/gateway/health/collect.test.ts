import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { handler } from '#platform/bus/serve'
import { openLog } from '#platform/log'
import { answerMetrics } from '#platform/metrics/answer'
import { HeartbeatsMissed } from '#shared/messages/operations'
import { ok } from '#shared/refusals'
import { about } from '#test/support/processes'
import { suspend, waitUntil } from '#test/support/wait'
import { answerAs, type Dependencies, startBackbone } from '../test-support/dependencies'
import { collectMetrics } from './collect'
import { metricsText } from './metrics'
import { openProbes } from './probes'

// The frozen nats-server keeps the connection open and sends nothing.

const log = openLog('suite', 'silent')
let backbone: Dependencies
const open = new AsyncDisposableStack()
beforeAll(async () => {
  backbone = open.use(await startBackbone())
})
afterAll(() => open.disposeAsync())

function serverPid(): number {
  const port = new URL(backbone.nats.url).port
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  const found = pids.find(
    (pid) => about(pid, 'comm').startsWith('nats-server') && about(pid, 'environ').includes(`=${port}\0`),
  )
  if (!found) throw new Error('no nats-server')
  return found
}

test('readiness names Postgres while operations finds that it refuses writes', async () => {
  const bus = open.use(await backbone.busAs('gateway'))
  const { readiness } = openProbes(bus, backbone.database, log)
  expect((await readiness()).missing).not.toContain('postgres')
  const missed = handler(HeartbeatsMissed, async () => ok({ missed: ['postgres'] }))
  await using _operations = await answerAs(backbone, 'operations', [missed])
  await waitUntil('Postgres being named', async () => (await readiness()).missing.includes('postgres'))
})

test('readiness blames the bus, and no service, while nats-server is frozen', async () => {
  const bus = open.use(await backbone.busAs('gateway'))
  answerMetrics(bus, { service: 'gateway', figures: async () => [], log })
  open.use(await answerAs(backbone, 'payments', []))
  const { readiness } = openProbes(bus, backbone.database, log)
  const text = async () => metricsText('', await collectMetrics(bus).catch(() => undefined), (await readiness()).down)
  expect(await text()).toContain('ausd_services_asked 1')
  await waitUntil('nats answering', async () => !(await readiness()).missing.includes('nats'))
  const pid = serverPid()
  await suspend(pid)
  try {
    const frozen = await text()
    expect(frozen).toContain('ausd_services_asked 0')
    expect(frozen).not.toContain('service_up{')
    expect(frozen).not.toContain('service_copies_down{')
    expect(await readiness()).toEqual({ missing: ['nats'], down: [] })
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  await waitUntil('the services being asked again', async () => (await text()).includes('ausd_services_asked 1'))
})
