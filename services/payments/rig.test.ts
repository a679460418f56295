import { eq } from 'drizzle-orm'
import { migrateAll } from '#infra/migrations/migrate'
import { startScratchPostgres } from '#infra/migrations/scratch-postgres'
import { openSandbox } from '#infra/sandbox/sandbox'
import { type Desk as HandlingDesk, handle } from '#shared/bus/handling'
import { openDatabase } from '#shared/db/open'
import { openLog } from '#shared/log'
import type { AnswerOf, Question } from '#shared/messages/topic'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { type Answer, ok, refuse } from '#shared/refusals'
import { answerActivity } from './activity.responder'
import { anomalies } from './anomaly.store'
import { payments } from './payment.store'
import { openXendit } from './providers/xendit/client'
import { relayReactions } from './relay.reactions'
import { mail, outbox } from './schema.store'
import { answerSettlements } from './settlement.responder'
import { sweepOnce } from './stuck'
import { answerTopups } from './topup.responder'
import { webhookReactions } from './webhook.reactions'

export const wallet = '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211'
const secretKeys = { ID: 'xnd_development_id', MY: 'xnd_development_my' }
const txHash = `0x${'ab'.repeat(32)}`

type Answered = {
  ok?: { paymentId: string; checkoutUrl: string; items: Entry[]; inFlight: Entry[] }
  refused?: string
}
type Entry = Record<string, string>

/** A real Postgres of this suite alone, migrated as everywhere, under the service's own role. */
async function openPostgres() {
  const server = await startScratchPostgres()
  const { adminUrl, passwords } = server
  await migrateAll({ adminUrl, passwords })
  const url = server.urlAs('payments', passwords.payments)
  return { url, end: () => server[Symbol.asyncDispose]() }
}

/** What the neighbours answer: quotes of pricing, wallets of the chain. */
function openNeighbours() {
  const chain = {
    verified: true,
    drawn: '0',
    pendingShares: '0',
    pendingUntil: null as string | null,
  }
  const quotes = new Map<string, { pair: string; rate: string; takenBy?: string; over?: true }>()
  const quote = (pair = 'USD/IDR', rate = '16250') => {
    const id = crypto.randomUUID()
    quotes.set(id, { pair, rate })
    return id
  }
  const answer = (subject: string, request: Record<string, string>): Answer<unknown> => {
    if (subject === 'chain.account') {
      const { verified, drawn, pendingShares, pendingUntil } = chain
      return ok({ verified, drawn, collateral: { pendingShares, pendingUntil } })
    }
    const locked = quotes.get(request.quoteId!)
    if (!locked) return refuse('quote_unknown')
    if (locked.takenBy && locked.takenBy !== request.takenBy) return refuse('quote_used')
    if (locked.over && !locked.takenBy) return refuse('quote_expired')
    if (subject.endsWith('take')) locked.takenBy = request.takenBy!
    return ok({ id: request.quoteId, ...locked, expiresAt: '' })
  }
  const ask = async <Q extends Question>({ subject }: Q, request: unknown) =>
    answer(subject, request as Record<string, string>) as AnswerOf<Q>
  return { chain, quotes, quote, ask }
}

/** The service's own parts between a real Postgres, the sandbox and its neighbours' answers. */
export async function openRig() {
  const base = await openPostgres()
  const log = openLog('payments', process.env.SUITE_LOG ?? 'silent')
  const database = openDatabase({ url: base.url, name: 'suite', log, onStuck: () => {} })
  const neighbours = openNeighbours()
  const time = { aheadMs: 0 }
  const clock = () => Date.now() + time.aheadMs
  const desk = { log, clock, sweepAfterMs: 1_000 }

  const gateway = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (call) => receive(call) })
  const sandbox = openSandbox({
    ...{ host: '127.0.0.1', port: 0, publicUrl: null, gatewayUrl: gateway.url.origin },
    ...{ appUrl: 'https://app.example.com', bookPath: null, secretKeys },
    callbackTokens: { ID: 'token-id', MY: 'token-my' },
    identity: {
      ...{ provider: 'sumsub', webhookSecret: 's', level: 'l', appToken: 'a', secretKey: 'k' },
    },
    ...{ webhookRetryScale: 1_000, payoutSettleMs: 600_000 },
  } as Parameters<typeof openSandbox>[0])
  const api = { baseUrl: sandbox.url, secretKeys, requestsPerMinute: 60_000, log }
  const provider = openXendit({ ...api, appUrl: 'https://app.example.com' })
  const reactions = [
    ...webhookReactions({ desk, provider, database, onPaid: () => {} }),
    ...relayReactions(desk),
  ]
  const reader: HandlingDesk = {
    ...{ consumer: 'payments', database, mailroom: mail, reactions, log, poke: () => {} },
  }
  const deliver = (account: 'ID' | 'MY', body: string, deliveryId: string) =>
    handle(reader, {
      subject: paymentsWebhookSubject(account, deliveryId),
      messageId: deliveryId,
      payload: { account, deliveryId, receivedAt: new Date().toISOString(), body },
    })
  const receive = async (call: Request) => {
    const account = call.headers.get('x-callback-token') === 'token-my' ? 'MY' : 'ID'
    const deliveryId = call.headers.get('webhook-id') ?? ''
    const fate = await deliver(account, await call.text(), deliveryId)
    return new Response(null, { status: fate === 'done' ? 200 : 503 })
  }

  const creation = { database, provider, desk, ask: neighbours.ask, checkoutTtlMs: 1_800_000 }
  const ask = (answering: { answer: (request: unknown) => Promise<unknown> }) =>
    answering.answer as (request: unknown) => Promise<Answered>
  const settle = (kind: 'credit' | 'repay' | 'revoke', cause: string, failed = false) =>
    handle(reader, {
      subject: `relay.${kind}.${failed ? 'failed' : 'settled'}`,
      messageId: `${kind}:${cause}:${failed}`,
      payload: {
        ...{ operationId: 'op_1', cause, wallet, reason: 'reverted', txHash, blockNumber: '7' },
      },
    })
  const sweeper = { database, provider, ask: neighbours.ask, desk, everyMs: 100, looksMax: 100 }
  return {
    ...neighbours,
    ...{ database, desk, provider, time, deliver, settle, sandbox },
    topup: ask(answerTopups(creation)),
    settlement: ask(answerSettlements(creation)),
    activity: ask(answerActivity(database, clock)),
    /** One round of the sweeper, as if the time had passed in which everything comes due. */
    sweep: async (aheadMs = 2_000) => {
      time.aheadMs += aheadMs
      await sweepOnce({ ...sweeper, poke: () => {} })
    },
    control: async (path: string, body: unknown = {}) => {
      const reply = await fetch(`${sandbox.url}/control/${path}`, {
        method: path === 'book' ? 'GET' : 'POST',
        ...(path === 'book' ? {} : { body: JSON.stringify(body) }),
      })
      if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
      return (await reply.json()) as Record<string, never> & { id: string; payment_id: string }
    },
    row: async (id: string) =>
      (await database.read((db) => db.select().from(payments).where(eq(payments.id, id))))[0],
    rows: () => database.read((db) => db.select().from(payments)),
    orders: async (id: string) => {
      const sent = await database.read((db) => db.select().from(outbox).orderBy(outbox.position))
      return sent.filter((row) => (row.payload as { paymentId: string }).paymentId === id)
    },
    oddities: () => database.read((db) => db.select().from(anomalies)),
    [Symbol.asyncDispose]: async () => {
      await sandbox[Symbol.asyncDispose]()
      await gateway.stop(true)
      await database[Symbol.asyncDispose]()
      await base.end()
    },
  }
}
export type Rig = Awaited<ReturnType<typeof openRig>>
