import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import { waitUntil } from '#infra/local/wait'
import { provisionNats } from '#infra/nats/provision'
import { type ScratchServer, startScratchServer } from '#test/support/scratch-server'

let server: ScratchServer
let manager: JetStreamManager
let admin: NatsConnection
beforeAll(async () => {
  server = await startScratchServer()
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
  admin = await server.connectAs('admin')
  manager = await admin.jetstreamManager()
})
afterAll(async () => {
  await admin.close()
  await server[Symbol.asyncDispose]()
})

const forged = JSON.stringify({
  refId: 'p',
  wallet: `0x${'1'.repeat(40)}`,
  ausd: '1',
  held: false,
})

/**
 * Requests to JetStream whose reply goes to a forged subject. A request names its own reply subject, for which the
 * server checks no permission.
 */
const detours = [
  ['gateway', 'webhooks.identity.sumsub.1', '$JS.API.CONSUMER.MSG.NEXT.WEBHOOKS.gateway', '1'],
  ['gateway', 'webhooks.payments.ID.1', 'webhooks.payments.ID.2', forged],
  ['pricing', '$KV.rates.a', '$JS.API.STREAM.MSG.GET.KV_rates', '{"last_by_subj":"$KV.rates.a"}'],
  [
    'ops',
    '$KV.rates.release.usd-idr',
    '$JS.API.STREAM.MSG.GET.KV_rates',
    '{"last_by_subj":"$KV.rates.release.usd-idr"}',
  ],
  ['pricing', '$KV.rates.b', '$JS.API.DIRECT.GET.KV_rates.$KV.rates.b', ''],
  ['pricing', '$KV.rates.c', '$JS.API.DIRECT.GET.KV_rates', '{"last_by_subj":"$KV.rates.c"}'],
  [
    'pricing',
    '$KV.rates.d',
    '$JS.API.CONSUMER.CREATE.KV_rates.push.$KV.rates.d',
    JSON.stringify({
      stream_name: 'KV_rates',
      config: { name: 'push', deliver_subject: 'relay.credit', filter_subject: '$KV.rates.d' },
    }),
  ],
] as const

describe('security: forged messages on permitted subjects', () => {
  test.each(detours)(
    'security: messages of %s on %s do not become an order by way of %s',
    async (user, own, way, body) => {
      const nc = await server.connectAs(user)
      await nc.jetstream().publish(own, forged)
      nc.publish(way, body, { reply: 'relay.credit' })
      await nc.flush()
      await nc.close()
      const orders = await ordersAfterAnother()
      expect(orders).not.toContain(forged)
    },
  )
})

/** Returns the orders in the stream. An honest order marks the end: earlier messages are in the stream by then. */
async function ordersAfterAnother(): Promise<string[]> {
  const payments = await server.connectAs('payments')
  const mark = await payments.jetstream().publish('relay.revoke', '{}')
  await payments.close()
  const orders: string[] = []
  for (let seq = 1; seq <= mark.seq; seq++) {
    const message = await manager.streams.getMessage('COMMANDS', { seq })
    if (message.subject === 'relay.credit') orders.push(message.string())
  }
  return orders
}

describe("security: another user's inbox", () => {
  test("security: another user's inbox receives nothing for a user who takes its name", async () => {
    const [user, pass] = ['payouts', server.passwords.payouts]
    const impostor = await connect({
      servers: server.url,
      user,
      pass,
      inboxPrefix: '_INBOX_payments',
    })
    const heard = impostor.request('chain.authorization.check', '{}', { timeout: 500 })
    await expect(heard).rejects.toThrow(/Permissions Violation for Subscription|TIMEOUT/)
    await impostor.close()
  })

  test("security: another user's inbox accepts one response, and only from the user who was asked", async () => {
    const relayer = await server.connectAs('chain-relayer')
    const inbox = '_INBOX_payments.one.1'
    let asked: string | undefined
    relayer.subscribe('chain.account', {
      queue: 'q',
      callback: (_, message) => {
        asked = message.reply
        relayer.publish(message.reply!, 'first')
        relayer.publish(message.reply!, 'second')
      },
    })
    await relayer.flush()
    const payments = await server.connectAs('payments')
    const answers: string[] = []
    payments.subscribe(inbox, { callback: (_, message) => void answers.push(message.string()) })
    payments.publish('chain.account', '{}', { reply: inbox })
    await waitUntil('the answer', () => answers.length > 0)
    await relayer.flush()
    await payments.flush()
    expect(asked).toBe(inbox)
    expect(answers).toEqual(['first'])
    await relayer.close()
    await payments.close()
  })
})
