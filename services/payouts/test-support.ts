import { eq, sql } from 'drizzle-orm'
import { handle } from '#platform/bus/handling'
import { openDatabaseClock } from '#platform/db/clock'
import { openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import type { CashoutCreate } from '#shared/messages/payouts'
import type { Question, ReadAnswerOf, RequestOf } from '#shared/messages/topic'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { receiveListed } from '#shared/provider/listing'
import { type Answer, ok, type RefusalCode, refuse } from '#shared/refusals'
import { openQuotes } from '#test/support/quotes'
import { openSandbox, testConfig } from '#test/support/sandbox'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { defaultsOf } from '#test/support/settings'
import { handleUntilDone, untilAnswered, waitUntil } from '#test/support/wait'
import { answerAccountCheck } from './account-check/check'
import { assemble, messagesOf } from './assemble'
import { type Cashout, cashouts, type NewCashout } from './cashout.table'
import { balanceReadingMaxMs, type Config, channelsRefreshMs, fields } from './config'
import type { Context } from './context'
import { payoutListing } from './incoming/provider-list'
import { startRechecking } from './incoming/recheck'
import type { HolderVerdict, PayoutApi, PayoutApis } from './provider'
import { openSandboxPayouts } from './providers/sandbox/client'
import { answerActivity, answerItem } from './queries/activity'
import { answerLimit } from './queries/public-config'
import { answerStatement } from './queries/statement'
import { openChannels, openDetailsSafe } from './request/bank'
import { answerPayoutsPause, openCashouts } from './request/open'
import { anomalies, journal, outbox, pauses } from './schema.store'
import { openBalance } from './treasury/balance'

export const wallet = '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211'
export const treasury = defaultsOf('payouts', fields).treasuryAddress
export const txHash = `0x${'ab'.repeat(32)}`

/** Returns a row to insert for a suite of the store, with a quote and an authorization of its own. */
export const cashoutRow = (id: string, more: Pick<NewCashout, 'state' | 'nextCheckAt'>): NewCashout => ({
  id,
  wallet,
  rateMinorPerUsd: 16_250n,
  ausdMicro: 5_000_000n,
  fiatMinor: 81_250n,
  quoteId: id,
  requestFingerprint: 'sari',
  authorizer: wallet,
  authorizationNonce: id,
  authorization: {} as never,
  channelCode: 'ID_BCA',
  bankDetails: 'sealed',
  bankDetailsKeyId: 'a',
  ...more,
})

async function openPostgres() {
  const server = await startScratchPostgres()
  const url = server.urlAs('payouts', server.passwords.payouts)
  return { url, end: () => server[Symbol.asyncDispose]() }
}

export const unlimited = { free: '1000000000000', counted: [] as string[], byContract: false }

function openOtherServices() {
  const chain: {
    refused?: RefusalCode | undefined
    /** Balance without transfers in progress; `counted` has the nonces of their takes. */
    free: string
    counted: string[]
    /** Only code of the wallet accepts its signatures. */
    byContract: boolean
    verified: boolean
  } = { ...unlimited, verified: true }
  const { answer: answerQuote, ...quotes } = openQuotes()
  const answer = (subject: string, request: Record<string, string>): Answer<unknown> => {
    if (subject.endsWith('check'))
      return chain.refused
        ? refuse(chain.refused)
        : ok({ free: chain.free, counted: chain.counted, byContract: chain.byContract })
    if (subject === 'chain.account') return ok({ verified: chain.verified })
    return answerQuote(subject, request)
  }
  const ask = async <Q extends Question>({ subject }: Q, request: unknown) =>
    answer(subject, request as Record<string, string>) as ReadAnswerOf<Q>
  return { chain, ...quotes, ask }
}

const ofPayout = (id: string) => sql`${outbox.payload} ->> 'payoutId' = ${id}`

/** Answers in place of the provider; undefined passes the call to the sandbox, as `onward` does. */
export type Detour = (
  call: Request,
  onward: () => Promise<Response>,
) => Response | undefined | Promise<Response | undefined>

function openDetour(providerUrl: () => string) {
  const detour: { by?: Detour | undefined } = {}
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
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

export async function openFixture(
  options: {
    recheckAfterMs?: number
    webhooks?: boolean
    reversalWatchMs?: number
    payoutsApi?: PayoutApi
    /** Time by which the clock is ahead of the database's, in ms. */
    aheadMs?: number
  } = {},
) {
  const { recheckAfterMs = 200, webhooks = true, reversalWatchMs = 60_000, aheadMs = 0 } = options
  const base = await openPostgres()
  const logged: Record<string, unknown>[] = []
  const write = (line: string) => void logged.push(JSON.parse(line))
  const log = openLog('payouts', 'warn', { write })
  const database = openDatabase({ url: base.url, name: 'suite', log, onFatal: () => {} })
  const time = await openDatabaseClock(database, log)
  const others = openOtherServices()
  const gateway = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (call) => receive(call) })
  const sandbox = openSandbox({ ...testConfig, gatewayUrl: gateway.url.origin, payoutSettleMs: 60 })
  const secretKey = testConfig.secretKeys.ID
  const outside = openDetour(() => sandbox.url)
  const api = { secretKey, baseUrl: outside.url, requestsPerMinute: 60_000, log }
  const providerBy = (...apis: PayoutApis) => openSandboxPayouts({ ...api, apis })
  const provider = providerBy(options.payoutsApi ?? 'v2')
  const config: Config = {
    ...defaultsOf('payouts', fields),
    // The suites wait for the rounds, and give back more cash-outs a day than an honest person.
    recheckAfterMs,
    recheckEveryMs: 100,
    reversalWatchMs,
    cashoutRefusedDayMax: 1_000,
    cashoutRefusedToAccountDayMax: 1_000,
    accountChecksDayMax: 1_000_000,
  }
  const safe = openDetailsSafe(config.bankDetailsKeys)
  const channels = openChannels({ provider, refreshMs: channelsRefreshMs, clock: Date.now, log })
  const balance = openBalance({
    database,
    provider,
    clock: () => time.clock() + aheadMs,
    log,
    readingMaxMs: balanceReadingMaxMs,
  })
  // `unhurried` changes the interval of the assembled context.
  const context: Context & { recheckAfterMs: number } = assemble(config, {
    database,
    provider,
    balance,
    channels,
    safe,
    ask: others.ask,
    log,
    clock: () => time.clock() + aheadMs,
    poke: () => {},
  })
  // The suites read the provider's list themselves.
  const recheck = startRechecking(context, config)
  const reader = messagesOf(context, recheck)
  const deliver = (from: 'ID' | 'MY', body: string, deliveryId: string) =>
    handle(reader, {
      subject: paymentsWebhookSubject(from, 'payouts', deliveryId),
      messageId: deliveryId,
      payload: { account: from, deliveryId, receivedAt: new Date().toISOString(), body },
    })
  const receive = async (call: Request) => {
    const body = await call.text()
    if (webhooks) await deliver('ID', body, call.headers.get('webhook-id') ?? '')
    return new Response(null, { status: 200 })
  }
  const listing = payoutListing(context)
  const request = (change: Change = {}): RequestOf<typeof CashoutCreate> => ({
    wallet: change.wallet ?? wallet,
    quoteId: change.quoteId ?? others.quote(),
    authorization: {
      from: wallet,
      to: treasury,
      value: '5000000',
      validAfter: '0',
      validBefore: String(Math.floor(Date.now() / 1_000) + 3_600),
      nonce: `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`,
      signature: `0x${'12'.repeat(65)}`,
      ...change.authorization,
    },
    bank: {
      channelCode: 'ID_BCA',
      accountNumber: '1234567890',
      accountHolderName: 'Sari Dewi',
      ...change.bank,
    },
  })
  const create = (asked: RequestOf<typeof CashoutCreate>, other: Partial<Context> = {}) =>
    untilAnswered(() => openCashouts({ ...context, ...other }).answer(structuredClone(asked))) as Promise<{
      ok?: { payoutId: string; ausd: string; fiat: string }
      refused?: RefusalCode
      since?: string
    }>
  const check = (asked: { wallet: string; bank: object }, other: Partial<Context> = {}) =>
    untilAnswered(() => answerAccountCheck({ ...context, ...other }).answer(structuredClone(asked))) as Promise<{
      ok?: { verdict: HolderVerdict }
      refused?: RefusalCode
    }>
  const pause = async (to: 'paused' | 'running') => {
    const [seen] = await database.read((db) => db.select().from(pauses))
    const revision = seen?.revision ?? 0
    return answerPayoutsPause(context).answer({
      command: crypto.randomUUID(),
      by: 'sari',
      reason: 'ticket 7',
      to,
      revision,
    }) as Promise<{ ok: { done: string } }>
  }
  const row = async (id: string) =>
    (await database.read((db) => db.select().from(cashouts).where(eq(cashouts.id, id))))[0]!
  const relayed = (kind: 'take' | 'return', cause: string, reason?: string) =>
    handleUntilDone(reader, {
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
    ...others,
    context,
    database,
    create,
    check,
    pause,
    request,
    row,
    relayed,
    deliver,
    control,
    providerBy,
    detoured: async <T>(by: Detour, work: () => Promise<T>): Promise<T> => {
      outside.detour.by = by
      return work().finally(() => {
        outside.detour.by = undefined
      })
    },
    /**
     * Runs `work` with a long interval between checks, so that no second attempt begins during the first,
     * however late the provider answers.
     */
    unhurried: async <T>(work: () => Promise<T>): Promise<T> => {
      context.recheckAfterMs = 60_000
      return work().finally(() => {
        context.recheckAfterMs = recheckAfterMs
      })
    },
    alarms: (payoutId: string) => logged.filter((line) => line.alarm === true && line.payoutId === payoutId),
    listing,
    list: () => receiveListed(listing, 'ID', new Date(Date.now() - 3_600_000)),
    logged,
    unclear: (payoutId: string) =>
      logged.filter((line) => line.msg === 'cash-out status check failed' && line.payoutId === payoutId),
    due: (id: string) =>
      database.run((db) => db.update(cashouts).set({ nextCheckAt: sql`now()` }).where(eq(cashouts.id, id))),
    /** Resets the row to an earlier state, an hour ago, like a restored backup. */
    putBack: (id: string, state: 'opening' | 'taking' | 'taken' | 'failed', set: Partial<Cashout> = {}) =>
      database.run((db) =>
        db
          .update(cashouts)
          .set({
            state,
            providerPayoutId: null,
            providerStatus: null,
            paidAt: null,
            attempts: 0,
            attemptedAt: null,
            payoutApi: null,
            checks: 0,
            nextCheckAt: sql`now()`,
            createdAt: sql`now() - interval '1 hour'`,
            updatedAt: sql`now() - interval '1 hour'`,
            ...set,
          })
          .where(eq(cashouts.id, id)),
      ),
    activity: answerActivity(context).answer,
    item: answerItem(context).answer,
    statement: answerStatement(context).answer,
    limit: answerLimit(context).answer,
    rows: () => database.read((db) => db.select().from(cashouts)),
    taken: async (change: Change = {}) => {
      const answer = await create(request(change))
      if (!answer.ok) throw new Error(answer.refused)
      await relayed('take', answer.ok.payoutId)
      return answer.ok.payoutId
    },
    until: (id: string, state: string) =>
      waitUntil(`${id} ${state}`, async () => (await row(id)).state === state && row(id), 60_000),
    sent: async (id: string) => {
      const messages = await database.read((db) => db.select().from(outbox).where(ofPayout(id)))
      return [...new Set(messages.map((message) => message.subject))].sort()
    },
    orders: async (id: string, subject: string) => {
      const messages = await database.read((db) => db.select().from(outbox).where(ofPayout(id)))
      return messages.filter((message) => message.subject === subject).map((message) => message.id)
    },
    transfers: async (id: string) => {
      type Transfer = { reference_id: string; id: string; status: string }
      const { payouts } = (await control('book')) as { payouts: Transfer[] }
      return payouts.filter((payout) => payout.reference_id === id)
    },
    provide: async (path: string, body: object, headers: Record<string, string> = {}) => {
      const key = { Authorization: `Basic ${btoa(`${secretKey}:`)}`, ...headers }
      const text = JSON.stringify(body)
      const reply = await fetch(sandbox.url + path, { method: 'POST', body: text, headers: key })
      if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
    },
    lapse: (id: string, secondsAgo: number) => {
      const validBefore = String(Math.floor(Date.now() / 1_000) - secondsAgo)
      const authorization = sql`${cashouts.authorization} || ${JSON.stringify({ validBefore })}::jsonb`
      return database.run((db) => db.update(cashouts).set({ authorization }).where(eq(cashouts.id, id)))
    },
    booked: (item: string) => database.read((db) => db.select().from(journal).where(eq(journal.item, item))),
    oddities: () => database.read((db) => db.select().from(anomalies)),
    [Symbol.asyncDispose]: async () => {
      await recheck[Symbol.asyncDispose]()
      await outside.end()
      await sandbox[Symbol.asyncDispose]()
      await gateway.stop(true)
      await time[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
      await base.end()
    },
  }
}
export type Fixture = Awaited<ReturnType<typeof openFixture>>
