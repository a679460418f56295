import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { handle } from '#platform/bus/handling'
import { openLog } from '#platform/log'
import { identityWebhookSubject } from '#shared/messages/webhooks'
import { gatewayMessaging, outbox } from '../schema.store'
import { account } from '../test-support/bodies'
import { type Dependencies, startBackbone } from '../test-support/dependencies'
import { config, contextOf } from '../test-support/fixture'
import { failFlag, identities, storeVerdict } from './identity.store'
import { orderReactions, sweepOnce } from './orders'
import { answerFlagOrder } from './rule'
import { verdictReaction } from './verdict'

let backbone: Dependencies
beforeAll(async () => {
  backbone = await startBackbone()
})
afterAll(() => backbone[Symbol.asyncDispose]())

/** Lines that raise alerts. */
const raised: Record<string, unknown>[] = []
const log = openLog('suite', 'info', {
  write: (line) => {
    const logged = JSON.parse(line)
    if (logged.alarm) raised.push(logged)
  },
})
beforeEach(() => {
  raised.length = 0
})

/** Context in which the chain has no flag. */
const context = () =>
  contextOf({
    log,
    database: backbone.database,
    clock: Date.now,
    ask: (async (_: unknown, { wallet }: { wallet: string }) => ({
      ok: { ...account, wallet, verified: false, balance: { ausd: '0', native: '0' } },
    })) as never,
  })

async function verified(failure?: string) {
  const wallet = `0x${randomUUID().replaceAll('-', '').padStart(40, '0')}` as const
  const next = { state: 'verified', decidedAtMs: Date.now(), revision: 7n } as const
  const verdict = { wallet, next, provider: 'sumsub', providerRef: null, sameAs: null }
  await backbone.database.transaction(async (tx) => {
    await storeVerdict(tx, { ...verdict, ordered: true }, new Date(0))
    if (failure) await failFlag(tx, wallet, failure, new Date())
  })
  return wallet
}
const rowOf = async (wallet: `0x${string}`) =>
  (await backbone.database.read((db) => db.select().from(identities).where(eq(identities.wallet, wallet))))[0]!
const revisionsOf = async (wallet: string) => {
  const rows = await backbone.database.read((db) => db.select().from(outbox).where(eq(outbox.subject, 'relay.verify')))
  const orders = rows.map(({ payload }) => payload as { wallet: string; revision: string })
  return orders.filter((order) => order.wallet === wallet).map(({ revision }) => revision)
}
const ask = (wallet: `0x${string}`, revision = '7') => {
  const command = { command: randomUUID(), by: 'sari', reason: 'ticket 9' }
  return answerFlagOrder(context()).answer({ ...command, wallet, revision })
}

/** Handles a message as the consumer of the gateway does. */
const hear = (subject: string, payload: object) =>
  handle(
    {
      consumer: 'gateway',
      database: backbone.database,
      messaging: gatewayMessaging,
      reactions: [verdictReaction(context()), ...orderReactions(context())],
      log,
      poke: () => {},
    },
    { subject, messageId: randomUUID(), payload },
  )
const failed = (kind: 'verify' | 'drip', wallet: string, cause: string) =>
  hear(`relay.${kind}.failed`, { operationId: 'op', cause, wallet, reason: 'reverted' })

test('a flag that the relayer gives up raises an alert, and one of an earlier verdict none', async () => {
  const wallet = await verified()
  await failed('verify', wallet, `${wallet}:6`)
  expect(raised).toEqual([])
  await failed('verify', wallet, `${wallet}:7`)
  expect(raised).toMatchObject([{ msg: 'verified flag not set on chain', wallet, reason: 'reverted' }])
  expect(await rowOf(wallet)).toMatchObject({ flagFailedAt: expect.any(Date), failure: 'reverted' })
})

test('the first native coin that the relayer does not give raises an alert, and a refill none', async () => {
  const wallet = await verified()
  await hear('relay.verify.settled', {
    operationId: 'op',
    cause: `${wallet}:7`,
    wallet,
    txHash: null,
    blockNumber: null,
  })
  await failed('drip', wallet, `${wallet}:2026-11-29`)
  expect(raised).toEqual([])
  await failed('drip', wallet, wallet)
  expect(raised).toMatchObject([{ msg: 'native coin drip failed', wallet, reason: 'reverted' }])
  expect(await rowOf(wallet)).toMatchObject({ failedAt: expect.any(Date), failure: 'reverted' })
})

test.each([
  ['cannot be read', { body: '{}' }, 'unreadable', 'the event has no type'],
  ['is of a provider that is not configured', { provider: 'persona' }, 'other_provider', 'persona is not configured'],
])('a webhook that %s raises an alert, and one about an unknown user none', async (_, odd, kind, detail) => {
  const receivedAt = new Date().toISOString()
  const stranger = { type: 'applicantReviewed', externalUserId: 'nobody of ours', levelName: config.identityLevel }
  const body = JSON.stringify({
    ...stranger,
    sandboxMode: true,
    createdAtMs: receivedAt.replace('T', ' ').replace('Z', ''),
  })
  const tell = (more: object) => {
    const message = { provider: 'sumsub', deliveryId: randomUUID(), receivedAt, body, ...more }
    return hear(identityWebhookSubject(message.provider, message.deliveryId), message).then(() => message)
  }
  await tell({})
  expect(raised).toEqual([])
  const { deliveryId } = await tell(odd)
  expect(raised).toMatchObject([{ msg: 'identity webhook not applied', deliveryId, kind, detail }])
})

test('an operator can order a flag again, once, after the relayer gave it up', async () => {
  const wallet = await verified('reverted')
  for (let times = 0; times < 2; times++) expect(await ask(wallet)).toMatchObject({ ok: { done: expect.any(String) } })
  expect(await rowOf(wallet)).toMatchObject({ flagFailedAt: null, failedAt: null, failure: null })
  await sweepOnce(context())
  expect(await revisionsOf(wallet)).toEqual(['8'])
})

test('an operator cannot order a flag that the relayer still works on, or another verdict', async () => {
  const wallet = await verified()
  expect(await ask(wallet)).toMatchObject({ ok: { refused: expect.any(String) } })
  expect(await ask(await verified('reverted'), '5')).toMatchObject({
    ok: { refused: expect.any(String) },
  })
})

test('a flag that stays unanswered is given up, until the relayer reports it after all', async () => {
  const wallet = await verified()
  await backbone.database.run((db) => db.update(identities).set({ sweeps: 20 }).where(eq(identities.wallet, wallet)))
  await sweepOnce(context())
  expect(await rowOf(wallet)).toMatchObject({
    checkAt: null,
    failure: 'unanswered',
    flagFailedAt: expect.any(Date),
  })
  const [settled] = orderReactions(context())
  const report = {
    operationId: 'op',
    cause: `${wallet}:7`,
    wallet,
    txHash: null,
    blockNumber: null,
  }
  await backbone.database.transaction((tx) => settled!.apply(tx, report as never, undefined as never))
  expect(await rowOf(wallet)).toMatchObject({
    flagSettledAt: expect.any(Date),
    flagFailedAt: null,
    failedAt: null,
    failure: null,
  })
})

test('an unanswered order is repeated although the clock was set back since its check was planned', async () => {
  const plan = async (wallet: `0x${string}`, aheadMs: number) => {
    const checkAt = new Date(Date.now() + aheadMs)
    await backbone.database.run((db) => db.update(identities).set({ checkAt }).where(eq(identities.wallet, wallet)))
    return wallet
  }
  const waiting = await plan(await verified(), 3_600_000)
  const late = await plan(await verified(), 7_260_000)
  await sweepOnce(context())
  expect(await revisionsOf(late)).toEqual(['7'])
  expect(await revisionsOf(waiting)).toEqual([])
})
