import { afterAll, expect, test } from 'bun:test'
import { watchAbility } from '#shared/bus/abilities'
import { openBus } from '#shared/bus/open'
import { serve } from '#shared/bus/serve'
import { openLog } from '#shared/log'
import { startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'

const server = await startScratchServer()
afterAll(() => server[Symbol.asyncDispose]())
const name = 'chain-relayer'
const log = openLog(name, 'silent')
const open = () =>
  openBus({
    ...{ url: server.url, user: name, password: server.passwords[name], name, log },
    onFatal: () => {},
  })

/** An instance of a relayer version with these capabilities. */
async function openCopy(abilities: readonly string[]) {
  const bus = await open()
  const [stats, description] = [async () => ({}), 'one of several']
  const served = await serve({ bus, name, description, answers: [], stats, log, abilities })
  return {
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await bus[Symbol.asyncDispose]()
    },
  }
}

test('a capability counts once all instances have it, and the last one without it has been gone for long', async () => {
  await using bus = await open()
  let nowMs = 0
  const watch = () => watchAbility(bus, name, 'bundles', { log, clock: () => nowMs })
  await using _new = await openCopy(['bundles', 'more'])
  await using watched = watch()
  expect(watched.allCan()).toBe(false)
  await waitUntil('the first look', () => watched.allCan())

  const old = await openCopy([])
  await waitUntil('the old copy being seen', () => !watched.allCan(), 60_000)
  await old[Symbol.asyncDispose]()
  nowMs = 59_000
  expect(watched.allCan()).toBe(false)
  nowMs = 121_000
  await waitUntil('a minute without it', () => watched.allCan())
})

test('a service of which no instance responds yet is polled without a warning', async () => {
  await using bus = await open()
  const lines: string[] = []
  const watching = openLog('suite', 'info', { write: (line) => void lines.push(line) })
  await using watched = watchAbility(bus, name, 'bundles', { log: watching, clock: () => 0 })
  await using other = await openBus({
    ...{ url: server.url, user: 'admin', password: server.passwords.admin, name: 'admin', log },
    onFatal: () => {},
  })
  let polls = 0
  const subscription = other.nc.subscribe(`$SRV.PING.${name}`)
  void (async () => {
    for await (const _ of subscription) polls++
  })()
  await waitUntil('two polls', () => polls > 1, 60_000)
  expect(lines).toEqual([])
  expect(watched.allCan()).toBe(false)
})
