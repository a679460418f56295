import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { type InstanceRoster, openInstanceRoster } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import type { ServiceName } from '#shared/messages/topic'
import { waitUntil } from '#test/support/wait'
import { answerAs, type Dependencies, startBackbone } from '../test-support/dependencies'

let backbone: Dependencies
let bus: Bus
let roster: InstanceRoster
const open = new AsyncDisposableStack()
const names = ['pricing', 'payments', 'payouts', 'chain-relayer', 'indexer-reader'] as const

beforeAll(async () => {
  backbone = open.use(await startBackbone())
  for (const name of names) open.use(await answerAs(backbone, name, []))
  bus = open.use(await backbone.busAs('gateway'))
  roster = openInstanceRoster(bus)
})
afterAll(() => open.disposeAsync())

/** Starts an instance in its own process, which can be frozen or killed. */
async function copyOf(name: ServiceName) {
  const { url, passwords } = backbone.nats
  const script = `
    const { connect } = await import('nats')
    const nc = await connect({ servers: '${url}', user: '${name}', pass: '${passwords[name]}',
      inboxPrefix: '_INBOX_${name}', reconnect: false })
    const service = await nc.services.add({ name: '${name}', version: '1.0.0' })
    await nc.flush()
    console.log(service.info().id)
    setInterval(() => {}, 1_000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const id = new TextDecoder().decode(value).trim()
  return {
    id,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const stateOf = async (id: string) => (await roster.call()).down.find(({ copy }) => copy === id)?.state
const becomes = (id: string, state: 'hangs' | 'gone' | undefined, deadlineMs?: number) =>
  waitUntil(`the copy being ${state}`, async () => (await stateOf(id)) === state, deadlineMs)
/** Waits until the instance is in the roster, which reports only instances as down that responded before. */
const known = (id: string) =>
  waitUntil('the copy being known', async () => (await roster.call()).up.some((one) => one === id))

test('the roster lists every service as up and none as down', async () => {
  await waitUntil('everybody answering', async () => {
    const { silent, down } = await roster.call()
    return silent.length + down.length === 0
  })
})

describe('the roster of two instances of a service', () => {
  test('lists a frozen instance as down, and as up once it resumes', async () => {
    await using copy = await copyOf('payments')
    await known(copy.id)
    copy.freeze()
    await becomes(copy.id, 'hangs')
    await waitUntil('the other', async () => (await roster.call()).silent.length === 0)
    copy.thaw()
    await becomes(copy.id, undefined)
  })

  test('lists a frozen instance as down after the server closed its connection', async () => {
    await using copy = await copyOf('payouts')
    await known(copy.id)
    copy.freeze()
    await becomes(copy.id, 'hangs')
    await becomes(copy.id, 'gone')
    await using _newer = await copyOf('payouts')
    await becomes(copy.id, undefined)
  })

  test('lists a killed instance as down unless a replacement started first', async () => {
    const [killed, replaced] = [await copyOf('pricing'), await copyOf('pricing')]
    await known(killed.id)
    await known(replaced.id)
    await killed[Symbol.asyncDispose]()
    await becomes(killed.id, 'gone')
    await replaced[Symbol.asyncDispose]()
    await using _first = await copyOf('pricing')
    await using second = await copyOf('pricing')
    await known(second.id)
    expect([await stateOf(killed.id), await stateOf(replaced.id)]).toEqual([undefined, undefined])
  })

  test('lists no killed instance after its replacement, although the clock was set back between them', async () => {
    const killed = await copyOf('payments')
    await known(killed.id)
    await killed[Symbol.asyncDispose]()
    const { now } = Date
    const setBack = spyOn(Date, 'now').mockImplementation(() => now() - 7_200_000)
    try {
      await using newer = await copyOf('payments')
      await known(newer.id)
      expect(await stateOf(killed.id)).toBeUndefined()
    } finally {
      setBack.mockRestore()
    }
  })

  test('does not list an instance that shut down cleanly', async () => {
    const { up: all } = await waitUntil('every service answering', async () => {
      const now = await roster.call()
      return now.silent.length === 0 && now
    })
    const before = new Set(all)
    const copy = await answerAs(backbone, 'chain-relayer', [])
    const id = await waitUntil('the copy being known', async () =>
      (await roster.call()).up.find((one) => !before.has(one)),
    )
    await copy[Symbol.asyncDispose]()
    const { up, down } = await waitUntil('the other', async () => {
      const now = await roster.call()
      return now.silent.length === 0 && now
    })
    expect(up).not.toContain(id)
    expect(down.filter(({ service }) => service === 'chain-relayer')).toEqual([])
  })
})
