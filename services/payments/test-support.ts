import { expect } from 'bun:test'
import { eq, lte, sql } from 'drizzle-orm'
import { Unavailable } from '#platform/bus/ask'
import { handle } from '#platform/bus/handling'
import type { Handler } from '#platform/bus/serve'
import { openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import type { RelayKind } from '#shared/messages/relay'
import type { Question, ReadAnswerOf } from '#shared/messages/topic'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { keptDelivery } from '#shared/provider/delivery'
import { receiveListed } from '#shared/provider/listing'
import { type Answer, ok } from '#shared/refusals'
import { openQuotes } from '#test/support/quotes'
import { openSandbox } from '#test/support/sandbox'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { defaultsOf } from '#test/support/settings'
import { handleUntilDone, untilAnswered, waitUntil } from '#test/support/wait'
import { assemble, messagesOf } from './assemble'
import { answerCancellations } from './checkout/cancel'
import { answerSettlements } from './checkout/settlement'
import { answerTopups } from './checkout/topup'
import { type Config, fields, treasuryReadingMaxMs } from './config'
import type { Context } from './context'
import { paymentListing } from './incoming/provider-list'
import { recheckOnce } from './incoming/recheck'
import { findMissing, findReportsById, findWallet, reversals } from './losses/refund.store'
import { payments } from './payment.table'
import { openXendit } from './providers/xendit/client'
import { answerActivity, answerItem } from './queries/activity'
import { answerLimit } from './queries/public-config'
import { answerStatement } from './queries/statement'
import { answerOperatorCommands } from './review/operator-commands'
import { refundOrders } from './review/resolution.store'
import { anomalies, outbox, pauses } from './schema.store'
import { openTreasury } from './treasury/treasury'

export { waitUntil }

export const wallet = '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211'
/** `recheck` moves the clock by less than a deployment's interval. */
/** Most suites have one wallet, which pays more often than a user may. */
const config: Config = { ...defaultsOf('payments', fields), recheckAfterMs: 1_000, topupDayCountMax: 1_000_000 }
const secretKeys = { ID: 'xnd_development_id', MY: 'xnd_development_my' }
const txHash = `0x${'ab'.repeat(32)}`

let wallets = 0
/** Returns a new wallet, because a frozen one must not affect the next test. */
export const newWallet = (): `0x${string}` => `0xaa${(++wallets).toString(16).padStart(38, '0')}`

type Answered = {
  ok?: {
    paymentId: string
    checkoutUrl: string
    left: string
    item: Entry | null
    items: Entry[]
    inFlight: Entry[]
  } & CommandAnswer
  refused?: string
  since?: string
}
type Entry = Record<string, string>
type CommandAnswer = { done?: string; refused?: string }
type FreezeSeen = { readonly revision: string; readonly missing: string }
type Holdings = { balance: bigint; drawable: bigint; ordered: bigint }
type HoldState = 'none' | 'held' | 'released' | 'revoked'

/** Opens a database in the role of the service. */
async function openPostgres() {
  const server = await startScratchPostgres()
  const url = server.urlAs('payments', server.passwords.payments)
  return { url, end: () => server[Symbol.asyncDispose]() }
}

function openOtherServices(clock: () => number) {
  const chain = {
    verified: true,
    isDown: false,
    drawn: '0',
    frozen: false,
    /** Part of the debt that is owed for a day (10⁻⁶ AUSD); null means all of it. */
    owedForDay: null as string | null,
    /** Unix seconds; the term is 30 days. */
    openedAt: null as number | null,
    /** 10⁻⁶ AUSD. */
    creditMax: 10n ** 15n,
    repayMax: 10n ** 15n,
    /** State of the hold; `until` is in unix seconds. */
    hold: { state: 'released' as HoldState, until: null as number | null },
    ref: 'unused' as 'unused' | 'ordered' | 'used',
    /** Amounts in 10⁻⁶ AUSD; null means no response. */
    treasury: { balance: 10n ** 15n, drawable: 10n ** 15n, ordered: 0n } as Holdings | null,
    owed: 0n as bigint | null,
    /** Promises that the next requests about a wallet wait for, one each. */
    waits: [] as Promise<unknown>[],
  }
  const { answer: answerQuote, ...quotes } = openQuotes()
  const answer = (subject: string, request: Record<string, string>): Answer<unknown> => {
    if (subject === 'chain.account') {
      const { verified, drawn, frozen, isDown } = chain
      if (isDown) throw new Unavailable('chain-relayer is not there')
      return ok({ wallet: request.wallet, verified, drawn, frozen })
    }
    if (subject === 'chain.terms') return ok({ holdSeconds: 60, cycle: { termSeconds: 30 * 86_400 } })
    if (subject === 'indexer.debt') {
      const { owedForDay, openedAt, drawn } = chain
      const blockTime = String(Math.floor(clock() / 1_000))
      const opened = openedAt === null ? null : String(openedAt)
      return ok({ owedForDay: owedForDay ?? drawn, openedAt: opened, blockTime })
    }
    if (subject === 'chain.hold') {
      const { state, until } = chain.hold
      const blockTime = String(Math.floor(clock() / 1_000))
      return ok({ state, until: until === null ? null : String(until), blockTime })
    }
    if (subject === 'chain.ref') return ok({ state: chain.ref })
    if (subject === 'chain.treasury') {
      if (!chain.treasury) throw new Unavailable('chain-relayer is not there')
      const { balance, drawable, ordered } = chain.treasury
      const readAt = new Date(clock()).toISOString()
      const amounts = { balance: `${balance}`, drawable: `${drawable}`, ordered: `${ordered}` }
      const most = { creditMax: `${chain.creditMax}`, repayMax: `${chain.repayMax}` }
      return ok({ ...amounts, ...most, blockNumber: '7', readAt })
    }
    if (subject === 'payouts.owed') {
      if (chain.owed === null) throw new Unavailable('payouts is not there')
      return ok({ ausd: String(chain.owed) })
    }
    return answerQuote(subject, request)
  }
  const ask = async <Q extends Question>({ subject }: Q, request: unknown) => {
    if (subject === 'chain.account') await chain.waits.shift()
    return answer(subject, request as Record<string, string>) as ReadAnswerOf<Q>
  }
  return { chain, ...quotes, ask }
}

/** Connects the service to a real Postgres, the sandbox, and stand-ins for the other services. */
export async function openFixture() {
  const postgres = await openPostgres()
  /** Log lines of alarms. */
  const alarms: Record<string, unknown>[] = []
  const log = openLog('payments', process.env.SUITE_LOG ?? 'error', {
    write: (line: string) => {
      const said = JSON.parse(line) as Record<string, unknown>
      if (said.alarm === true) alarms.push(said)
      if (process.env.SUITE_LOG) process.stderr.write(line)
    },
  })
  const database = openDatabase({ url: postgres.url, name: 'suite', log, onFatal: () => {} })
  const time = { aheadMs: 0 }
  const clock = () => Date.now() + time.aheadMs
  const { ask, ...others } = openOtherServices(clock)

  const gateway = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (call) => receive(call) })
  const sandbox = openSandbox({
    host: '127.0.0.1',
    port: 0,
    publicUrl: null,
    gatewayUrl: gateway.url.origin,
    appUrl: 'https://app.example.com',
    bookPath: null,
    secretKeys,
    callbackTokens: { ID: 'token-id', MY: 'token-my' },
    identity: {
      provider: 'sumsub',
      webhookSecret: 's',
      level: 'l',
      appToken: 'a',
      secretKey: 'k',
    },
    webhookRetryScale: 1_000,
    payoutSettleMs: 600_000,
    floatIdrMinor: 0n,
  } as Parameters<typeof openSandbox>[0])
  const api = { baseUrl: sandbox.url, secretKeys, requestsPerMinute: 60_000, log }
  const provider = openXendit({ ...api, appUrl: 'https://app.example.com' })
  const treasury = openTreasury({ database, ask, clock, log, readingMaxMs: treasuryReadingMaxMs })
  const context = assemble(config, { database, provider, ask, treasury, log, clock, poke: () => {} })
  const reader = messagesOf(context)
  const deliver = (account: 'ID' | 'MY', body: string, deliveryId: string, receivedAt = new Date().toISOString()) =>
    handle(reader, {
      subject: paymentsWebhookSubject(account, 'payments', deliveryId),
      messageId: deliveryId,
      payload: { account, deliveryId, receivedAt, body },
    })
  const receive = async (call: Request) => {
    const account = call.headers.get('x-callback-token') === 'token-my' ? 'MY' : 'ID'
    const deliveryId = call.headers.get('webhook-id') ?? ''
    const [body, receivedAt] = [keptDelivery(await call.text()), new Date().toISOString()]
    // The gateway stores the webhook, and the bus redelivers it until it is processed.
    const isDone = waitUntil(
      'the delivery',
      async () => (await deliver(account, body, deliveryId, receivedAt)) === 'done',
    )
    return isDone.then(
      () => new Response(null, { status: 200 }),
      () => new Response(null, { status: 503 }),
    )
  }
  /** Reports an order as final on the chain, or as abandoned, as the relayer does. */
  const settle = (kind: RelayKind, cause: string, failed = false, of = wallet, reason = 'reverted') =>
    handleUntilDone(reader, {
      subject: `relay.${kind}.${failed ? 'failed' : 'settled'}`,
      messageId: `${kind}:${cause}:${failed}:${crypto.randomUUID()}`,
      payload: {
        operationId: 'op_1',
        cause,
        reason,
        txHash,
        blockNumber: '7',
        wallet: of,
      },
    })
  const answerOf = ({ answer }: Handler) => {
    const ask = answer as (request: unknown) => Promise<Answered>
    return (request: unknown) => untilAnswered(() => ask(request))
  }
  const commands = new Map(answerOperatorCommands(context).map((one) => [one.question.subject, one]))
  const command = (subject: string, asked: object) =>
    answerOf(commands.get(subject)!)({
      command: crypto.randomUUID(),
      reason: 'ticket 7',
      ...asked,
    })
  const listing = paymentListing(context)
  let listedFromMs = Date.now() - 3_600_000
  const freezeOf = async (of: `0x${string}`): Promise<FreezeSeen> => {
    const lost = await database.read((db) => findMissing(db, of))
    const missing = lost.reduce((sum, one) => sum + one.lostMicro - one.madeGoodMicro, 0n)
    const revision = (await database.read((db) => findWallet(db, of)))?.revision ?? 0n
    return { revision: String(revision), missing: String(missing) }
  }
  const pauseRevision = async () =>
    (await database.read((db) => db.select().from(pauses).where(eq(pauses.what, 'topups'))))[0]?.revision ?? 0
  const row = async (id: string) =>
    (await database.read((db) => db.select().from(payments).where(eq(payments.id, id))))[0]
  const orders = (id: string) => {
    const { payload, position } = outbox
    const isOfPayment = sql`${payload}->>'paymentId' = ${id}
      or split_part(${payload}->>'refId', '.', 1) = ${id}`
    return database.read((db) => db.select().from(outbox).where(isOfPayment).orderBy(position))
  }
  const control = async (path: string, body: unknown = {}) => {
    const reply = await fetch(`${sandbox.url}/control/${path}`, {
      method: path === 'book' ? 'GET' : 'POST',
      ...(path === 'book' ? {} : { body: JSON.stringify(body) }),
    })
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
    return (await reply.json()) as Record<string, never> & { id: string; payment_id: string }
  }
  /** Leaves the payments of earlier tests alone: no round checks them, and no `list` reads their rows. */
  const rest = async () => {
    listedFromMs = clock() - 1_000
    await database.run((db) => db.update(payments).set({ nextCheckAt: null }))
  }
  /** Begins a test without webhooks, with a wallet in debt, and later than any reading of the list that an earlier test shared. */
  const withoutWebhooks = async () => {
    Object.assign(others.chain, { verified: true, drawn: '3000000', frozen: false })
    await rest()
    await control('faults', { webhooks: { drop: 1 }, api: {} })
    time.aheadMs += 10_000
  }
  return {
    ...others,
    context,
    database,
    provider,
    time,
    deliver,
    settle,
    sandbox,
    alarms,
    /** Returns the lines of the alarms about a payment. */
    alarmsOf: (id: string) =>
      alarms
        .filter(({ paymentId, cause }) => paymentId === id || String(cause).startsWith(`${id}:`))
        .map(({ msg }) => msg),
    listing,
    topup: answerOf(answerTopups(context)),
    topupWithin: (topupLimits: Context['topupLimits']) => answerOf(answerTopups({ ...context, topupLimits })),
    settlement: answerOf(answerSettlements(context)),
    cancel: answerOf(answerCancellations(context)),
    activity: answerOf(answerActivity(context)),
    item: answerOf(answerItem(context)),
    statement: answerOf(answerStatement(context)),
    limit: answerOf(answerLimit(context)),
    resolve: (paymentId: string, resolution: string, by = 'sari', more: object = {}) =>
      command('payments.review.resolve', { paymentId, resolution, by, ...more }),
    refundTopup: (paymentId: string, back: bigint, more: object = {}) =>
      command('payments.topup.refund', {
        paymentId,
        back: String(back),
        transfers: [`0x${new Bun.CryptoHasher('sha256').update(paymentId).digest('hex')}:1`],
        by: 'sari',
        ...more,
      }),
    giveUp: (paymentId: string, reference: string) =>
      command('payments.refund.give-up', { paymentId, reference, by: 'sari' }),
    worthOf: (subject: string, asked: object) => commands.get(subject)!.worth!(asked as never),
    clear: async (of: `0x${string}`, by = 'sari', seen?: FreezeSeen) =>
      command('payments.wallet.clear', { wallet: of, by, ...(seen ?? (await freezeOf(of))) }),
    freeze: async (of: `0x${string}`, to: 'frozen' | 'free', revision?: string) =>
      command('payments.wallet.freeze', {
        wallet: of,
        to,
        by: 'sari',
        revision: revision ?? (await freezeOf(of)).revision,
      }),
    reclaim: async (of: `0x${string}`, clearing?: string) =>
      command('payments.wallet.reclaim', {
        wallet: of,
        by: 'sari',
        clearing: clearing ?? String((await database.read((db) => findWallet(db, of)))?.clearedRevision ?? 0n),
      }),
    giveBack: (paymentId: string, micro: string) =>
      command('payments.loss.given-back', { paymentId, micro, by: 'sari' }),
    takeBack: (paymentId: string, transactionId: string, minor: string) =>
      command('payments.payment.taken-back', { paymentId, transactionId, minor, by: 'sari' }),
    nameCharge: (disputeId: string, charge: string) =>
      command('payments.dispute.charge', { disputeId, charge, by: 'sari' }),
    freezeOf,
    pause: async (to: 'paused' | 'running', by = 'sari', revision?: number, country?: 'MY') =>
      command('payments.topups.pause', {
        to,
        by,
        revision: revision ?? (await pauseRevision()),
        ...(country && { country }),
      }),
    pauseRevision,
    /** Runs rechecks with the clock ahead, so that everything is due. */
    recheck: async (aheadMs = 2_000) => {
      time.aheadMs += aheadMs
      const now = new Date(context.clock())
      const { id, checks, nextCheckAt } = payments
      const due = async () => {
        const columns = { id, checks }
        const rows = database.read((db) => db.select(columns).from(payments).where(lte(nextCheckAt, now)))
        return new Set((await rows).map((row) => `${row.id} ${row.checks}`))
      }
      const before = await due()
      await recheckOnce(context, 100)
      // A round skips rows that a webhook has locked at that moment.
      await waitUntil('nothing left out', async () => {
        if ((await due()).isDisjointFrom(before)) return true
        await recheckOnce(context, 100)
        return undefined
      })
    },
    rest,
    withoutWebhooks,
    /** Reads the list of the last hour, or since `rest`. */
    list: async () => {
      for (const account of ['ID', 'MY'] as const) await receiveListed(listing, account, new Date(listedFromMs))
    },
    control,
    row,
    orders,
    rows: () => database.read((db) => db.select().from(payments)),
    subjects: async (id: string) => (await orders(id)).map(({ subject }) => subject),
    becomes: (id: string, want: object) =>
      waitUntil(`${id} having ${Object.keys(want)} as wanted`, async () => {
        const found = await row(id)
        expect(found).toMatchObject(want)
        return found
      }),
    becomesEither: (id: string, states: readonly string[]) =>
      waitUntil(`${id} being ${states}`, async () => {
        const found = await row(id)
        return found && states.includes(found.state) && found
      }),
    orderedRefunds: (id: string) =>
      database.read((db) =>
        db.select().from(refundOrders).where(eq(refundOrders.paymentId, id)).orderBy(refundOrders.reference),
      ),
    walletRow: (of: `0x${string}`) => database.read((db) => findWallet(db, of)),
    report: async (id: string) => (await database.read((db) => findReportsById(db, [id])))[0],
    reversals: () => database.read((db) => db.select().from(reversals)),
    anomalies: () => database.read((db) => db.select().from(anomalies)),
    [Symbol.asyncDispose]: async () => {
      await sandbox[Symbol.asyncDispose]()
      await gateway.stop(true)
      await database[Symbol.asyncDispose]()
      await postgres.end()
    },
  }
}
export type Fixture = Awaited<ReturnType<typeof openFixture>>
