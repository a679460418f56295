import { eq, sql } from 'drizzle-orm'
import { waitUntil } from '#infra/local/wait'
import { migrateAll } from '#infra/migrations/migrate'
import { startScratchPostgres } from '#infra/migrations/scratch-postgres'
import { openSandbox } from '#infra/sandbox/sandbox'
import { testConfig } from '#infra/sandbox/stand'
import { type HandlingContext, handle } from '#shared/bus/handling'
import { openDatabase } from '#shared/db/open'
import { openLog } from '#shared/log'
import type { AnswerOf, Question } from '#shared/messages/topic'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { openProviderClient } from '#shared/provider/client'
import { receiveListed } from '#shared/provider/listing'
import { type Answer, ok, type RefusalCode, refuse } from '#shared/refusals'
import { activityAnswer } from './activity.responder.ts'
import { anomalies } from './anomaly.store.ts'
import { openDetailsSafe } from './bank-details.ts'
import { type CashoutDesk, cashoutAnswer } from './cashout.responder.ts'
import { cashouts } from './cashout.store.ts'
import { openChannels } from './channels.ts'
import { xenditPayouts } from './providers/xendit/client.ts'
import { relayReactions } from './relay.reactions.ts'
import type { CashoutRequest } from './request.ts'
import { mail, outbox } from './schema.store.ts'
import { startSweeping } from './stuck.ts'
import { payoutListing } from './transactions.ts'
import { webhookReactions } from './webhook.reactions.ts'

export const wallet = '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211'
export const treasury = '0x00000000000000000000000000000000000000aa'
export const txHash = `0x${'ab'.repeat(32)}`

/** A real Postgres of this suite alone, migrated as everywhere, under the service's own role. */
async function openPostgres() {
  const server = await startScratchPostgres()
  const { adminUrl, passwords } = server
  await migrateAll({ adminUrl, passwords })
  const url = server.urlAs('payouts', passwords.payouts)
  return { url, end: () => server[Symbol.asyncDispose]() }
}

/** What the neighbours answer: quotes of pricing, the token's opinion of an authorization. */
function openNeighbours() {
  const chain: { refused?: RefusalCode } = {}
  const quotes = new Map<string, { pair: string; rate: string; takenBy?: string; over?: true }>()
  const quote = (pair = 'USD/IDR', rate = '16250') => {
    const id = crypto.randomUUID()
    quotes.set(id, { pair, rate })
    return id
  }
  const answer = (subject: string, request: Record<string, string>): Answer<unknown> => {
    if (subject.endsWith('check')) return chain.refused ? refuse(chain.refused) : ok({})
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

const ofPayout = (id: string) => sql`${outbox.payload} ->> 'payoutId' = ${id}`

/** Answers a call in the provider's place; undefined: the sandbox does, as it does `onward`. */
export type Detour = (
  call: Request,
  onward: () => Promise<Response>,
) => Response | undefined | Promise<Response | undefined>

/** What stands between us and the provider, for the words that a sandbox never says by itself. */
function openDetour(providerUrl: () => string) {
  const detour: { by?: Detour | undefined } = {}
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 60 },
    fetch: async (call) => {
      const { pathname, search } = new URL(call.url)
      const { method, headers } = call
      const body = method === 'GET' ? {} : { body: await call.text() }
      const onward = () => fetch(providerUrl() + pathname + search, { method, headers, ...body })
      return (await detour.by?.(call, onward)) ?? onward()
    },
  })
  return { detour, url: server.url.origin, end: () => server.stop(true) }
}

type Change = { authorization?: object; bank?: object; wallet?: string; quoteId?: string }

/** The service's own parts between a real Postgres, the sandbox and its neighbours' answers. */
export async function openRig(
  options: { sweepAfterMs?: number; webhooks?: boolean; reversalWatchMs?: number } = {},
) {
  const { sweepAfterMs = 200, webhooks = true, reversalWatchMs = 60_000 } = options
  const base = await openPostgres()
  const logged: Record<string, unknown>[] = []
  const write = (line: string) => void logged.push(JSON.parse(line))
  const log = openLog('payouts', 'warn', { write })
  const database = openDatabase({ url: base.url, name: 'suite', log, onStuck: () => {} })
  const neighbours = openNeighbours()
  const gateway = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (call) => receive(call) })
  const sandbox = openSandbox({ ...testConfig, gatewayUrl: gateway.url.origin, payoutSettleMs: 60 })
  const account = { account: 'ID', secretKey: testConfig.secretKeys.ID } as const
  const outside = openDetour(() => sandbox.url)
  const api = { ...account, baseUrl: outside.url, requestsPerMinute: 60_000, log }
  const provider = xenditPayouts(openProviderClient(api))
  const safe = openDetailsSafe([{ id: 'a', key: Buffer.alloc(32, 1) }])
  const poke = () => {}
  const sweeper = startSweeping(
    { database, provider, safe, sweepAfterMs, log, poke },
    { sweepEveryMs: 20, reversalWatchMs },
  )
  const reactions = [
    ...webhookReactions({ provider, sweepAfterMs, log, reached: () => {} }),
    ...relayReactions({ sweepAfterMs, log }),
  ]
  const reader: HandlingContext = {
    ...{ consumer: 'payouts', database, messaging: mail, reactions, log, poke: sweeper.poke },
  }
  const deliver = (from: 'ID' | 'MY', body: string, deliveryId: string) =>
    handle(reader, {
      subject: paymentsWebhookSubject(from, deliveryId),
      messageId: deliveryId,
      payload: { account: from, deliveryId, receivedAt: new Date().toISOString(), body },
    })
  const receive = async (call: Request) => {
    const body = await call.text()
    if (webhooks) await deliver('ID', body, call.headers.get('webhook-id') ?? '')
    return new Response(null, { status: 200 })
  }
  const channels = openChannels({ provider, refreshMs: 60_000, clock: Date.now, log })
  const checks = {
    ask: neighbours.ask,
    channels,
    safe,
    treasury,
    accountLengths: 'lenient',
  } as const
  const desk = { ...checks, database, sweepAfterMs, clock: Date.now, log, poke }
  const listing = payoutListing({ database, provider, sweepAfterMs, clock: Date.now, log })
  const request = (change: Change = {}): CashoutRequest => ({
    wallet: change.wallet ?? wallet,
    quoteId: change.quoteId ?? neighbours.quote(),
    authorization: {
      ...{ from: wallet, to: treasury, value: '5000000', validAfter: '0' },
      validBefore: String(Math.floor(Date.now() / 1_000) + 3_600),
      nonce: `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`,
      signature: `0x${'12'.repeat(65)}`,
      ...change.authorization,
    },
    bank: {
      ...{ channelCode: 'ID_BCA', accountNumber: '1234567890', accountHolderName: 'Sari Dewi' },
      ...change.bank,
    },
  })
  const create = (asked: CashoutRequest, other: Partial<CashoutDesk> = {}) =>
    cashoutAnswer({ ...desk, ...other }).answer(asked) as Promise<{
      ok?: { payoutId: string; ausd: string; fiat: string }
      refused?: RefusalCode
    }>
  const row = async (id: string) =>
    (await database.read((db) => db.select().from(cashouts).where(eq(cashouts.id, id))))[0]!
  const settle = (kind: 'take' | 'return', cause: string, reason?: string) =>
    handle(reader, {
      subject: `relay.${kind}.${reason ? 'failed' : 'settled'}`,
      messageId: `${kind}:${cause}:${crypto.randomUUID()}`,
      payload: {
        operationId: 'op_1',
        cause,
        wallet,
        txHash,
        blockNumber: '7',
        ...(reason && { reason }),
      },
    })
  const control = async (path: string, body?: unknown) => {
    const method = body === undefined ? 'GET' : 'POST'
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const reply = await fetch(`${sandbox.url}/control/${path}`, { method, ...text })
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
    return reply.json()
  }
  return {
    ...neighbours,
    ...{ database, provider, create, request, row, settle, deliver, control },
    /** What happens to calls of the provider until the work is done. */
    detoured: async <T>(by: Detour, work: () => Promise<T>): Promise<T> => {
      outside.detour.by = by
      return work().finally(() => {
        outside.detour.by = undefined
      })
    },
    /** What a person was called for; of one cash-out. */
    alarms: (payoutId: string) =>
      logged.filter((line) => line.alarm === true && line.payoutId === payoutId),
    listing,
    /** Reads the provider's list of the last hour. */
    list: () => receiveListed(listing, 'ID', new Date(Date.now() - 3_600_000)),
    logged,
    /** The looks at a cash-out that ended without an answer. */
    unclear: (payoutId: string) =>
      logged.filter(
        (line) => line.msg === 'cash-out is still unclear' && line.payoutId === payoutId,
      ),
    /** As if the time had passed until the next look. */
    due: (id: string) =>
      database.read((db) =>
        db.update(cashouts).set({ lookAt: sql`now()` }).where(eq(cashouts.id, id)),
      ),
    activity: activityAnswer(database).answer,
    rows: () => database.read((db) => db.select().from(cashouts)),
    /** A cash-out whose AUSD is taken: the rest goes by itself. */
    taken: async (change: Change = {}) => {
      const answer = await create(request(change))
      if (!answer.ok) throw new Error(answer.refused)
      await settle('take', answer.ok.payoutId)
      return answer.ok.payoutId
    },
    until: (id: string, state: string) =>
      waitUntil(`${id} ${state}`, async () => (await row(id)).state === state && row(id), 10_000),
    /** What was said of a payout; what the sweeper repeats counts once. */
    sent: async (id: string) => {
      const messages = await database.read((db) => db.select().from(outbox).where(ofPayout(id)))
      return [...new Set(messages.map((message) => message.subject))].sort()
    },
    orders: async (id: string, subject: string) => {
      const messages = await database.read((db) => db.select().from(outbox).where(ofPayout(id)))
      return messages.filter((message) => message.subject === subject).map((message) => message.id)
    },
    transfers: async (id: string) => {
      const { payouts } = (await control('book')) as { payouts: { reference_id: string }[] }
      return payouts.filter((payout) => payout.reference_id === id)
    },
    /** Calls the sandbox as the provider, with our key. */
    provide: async (path: string, body: object, headers: Record<string, string> = {}) => {
      const key = { Authorization: `Basic ${btoa(`${account.secretKey}:`)}`, ...headers }
      const text = JSON.stringify(body)
      const reply = await fetch(sandbox.url + path, { method: 'POST', body: text, headers: key })
      if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
    },
    /** Lets the window of what was signed end so many seconds ago. */
    lapse: (id: string, secondsAgo: number) => {
      const validBefore = String(Math.floor(Date.now() / 1_000) - secondsAgo)
      const authorization = sql`${cashouts.authorization} || ${JSON.stringify({ validBefore })}::jsonb`
      return database.read((db) =>
        db.update(cashouts).set({ authorization }).where(eq(cashouts.id, id)),
      )
    },
    oddities: () => database.read((db) => db.select().from(anomalies)),
    [Symbol.asyncDispose]: async () => {
      await sweeper[Symbol.asyncDispose]()
      await outside.end()
      await sandbox[Symbol.asyncDispose]()
      await gateway.stop(true)
      await database[Symbol.asyncDispose]()
      await base.end()
    },
  }
}
export type Rig = Awaited<ReturnType<typeof openRig>>
