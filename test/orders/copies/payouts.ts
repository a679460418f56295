import { asc, eq, sql } from 'drizzle-orm'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Ask } from '#platform/bus/ask'
import { handle } from '#platform/bus/handling'
import { openLog } from '#platform/log'
import { difference, position } from '#shared/ledger/position'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import type { PayoutStatus } from '#shared/provider/payout'
import type { ProblemMeaning } from '#shared/provider/problem'
import { defaultsOf } from '#test/support/settings'
import { assemble, type Means, messagesOf } from '../../../services/payouts/assemble'
import type { CashoutRequest, CashoutState } from '../../../services/payouts/cashout'
import { type Cashout, cashouts } from '../../../services/payouts/cashout.table'
import { type Config, fields } from '../../../services/payouts/config'
import { positionOf } from '../../../services/payouts/ledger/position'
import type { Evidence } from '../../../services/payouts/provider'
import { openXendit } from '../../../services/payouts/providers/xendit/client'
import { openDetailsSafe } from '../../../services/payouts/request/bank'
import { openCashouts } from '../../../services/payouts/request/open'
import { anomalies, journal, outbox } from '../../../services/payouts/schema.store'
import type { Balance } from '../../../services/payouts/treasury/balance'
import type { Side } from '../side'
import { newNumber, openAsk, walletOf } from './payments'

/** A wallet that has enough for every cash-out. */
export const unlimited = { free: `${10n ** 15n}`, counted: [] }

const log = openLog('payouts', process.env.SUITE_LOG ?? 'silent')
const treasury = '0x00000000000000000000000000000000000000aa'
const safe = openDetailsSafe([{ id: 'a', key: Buffer.alloc(32, 1) }])
export const ausdMicro = 5_000_000n
export const fiatMinor = 81_250n

export type Bank = {
  /** Payouts by our reference. */
  readonly accepted: Map<string, Evidence[]>
  /** Code of the refusal per instance; without one the payout is accepted. */
  refusing: Partial<Record<string, ProblemMeaning>>
  /** Responses to lookups by the provider's id, per instance. */
  readonly says: Map<string, Evidence>
}
export const openBank = (): Bank => ({ accepted: new Map(), refusing: {}, says: new Map() })

const words: Readonly<Record<PayoutStatus, string>> = {
  pending: 'ACCEPTED',
  succeeded: 'SUCCEEDED',
  refused: 'FAILED',
  reversed: 'REVERSED',
  unknown: 'UNKNOWN',
}
export const evidenceOf = (referenceId: string, status: PayoutStatus, name = ''): Evidence => ({
  payoutId: `disb-${referenceId}${name}`,
  referenceId,
  status,
  failureCode: null,
  word: words[status],
  reason: null,
  amountMinor: fiatMinor,
  currency: 'IDR',
})

/** Client that parses webhooks as the service does and makes no calls. */
const xendit = openXendit({
  baseUrl: 'http://127.0.0.1:9',
  secretKey: 'id',
  requestsPerMinute: 60_000,
  log,
  apis: ['v2'],
})

/** Opens an instance of payouts on the session's connection. */
export function openPayouts(
  side: Side,
  bank: Bank,
  over: { ask?: Ask; balance?: Balance; settings?: Partial<Config> } = {},
) {
  const balance: Balance = over.balance ?? { minor: 10n ** 15n, readAt: new Date() }
  const means: Means = {
    database: side.database('payouts'),
    ask: over.ask ?? openAsk({ 'chain.authorization.check': () => ({ ok: unlimited }) }),
    provider: {
      ...xendit,
      create: async ({ id }) => {
        await side.outside('the bank is ordered to pay')
        const meaning = bank.refusing[side.name]
        if (meaning) return { refused: { code: meaning.toUpperCase(), meaning } }
        const evidence = evidenceOf(id, 'pending')
        bank.accepted.set(id, [...(bank.accepted.get(id) ?? []), evidence])
        return { ok: evidence }
      },
      find: async (id) => bank.says.get(`${side.name} ${id}`) ?? bank.says.get(id),
      findByReference: async (id, api) => {
        if (api !== 'v2') return []
        await side.outside('the provider returns its payouts')
        return (bank.accepted.get(id) ?? []).slice(0, 1)
      },
    },
    channels: {
      find: async (code) => ({
        code,
        name: 'BCA',
        minMinor: 10_000n,
        maxMinor: 10n ** 12n,
        incrementMinor: 1n,
        accountDigits: [6, 20],
      }),
      all: async () => [],
      nameOf: (code) => code,
    },
    balance: { refresh: async () => {}, current: async () => balance, last: () => balance },
    safe,
    clock: Date.now,
    log,
    poke: () => {},
  }
  const context = assemble({ ...defaultsOf('payouts', fields), ...over.settings }, means)
  const reader = messagesOf(context)
  return {
    context,
    create: (request: CashoutRequest) =>
      openCashouts(context).answer(request) as Promise<{ ok?: object; refused?: string }>,
    deliver: (payoutId: string, messageId: string) =>
      handle(reader, {
        subject: paymentsWebhookSubject('ID', 'payouts', messageId),
        messageId,
        payload: {
          account: 'ID',
          deliveryId: messageId,
          receivedAt: new Date().toISOString(),
          body: JSON.stringify({ event: 'payout.succeeded', data: { id: payoutId } }),
        },
      }),
    told: (word: 'take.settled' | 'take.failed' | 'return.settled', cause: string) =>
      handle(reader, {
        subject: `relay.${word}`,
        messageId: `${word}:${cause}:${side.name}`,
        payload: {
          operationId: 'op_1',
          cause,
          wallet: treasury,
          txHash: `0x${'ab'.repeat(32)}`,
          blockNumber: '7',
          reason: 'authorization_expired',
        },
      }),
  }
}

export function requestOf(quoteId: string, number = newNumber(), of = number): CashoutRequest {
  const wallet = walletOf(of)
  return {
    wallet,
    quoteId,
    authorization: {
      from: wallet,
      to: treasury,
      value: `${ausdMicro}`,
      validAfter: '0',
      validBefore: String(Math.floor(Date.now() / 1_000) + 3_600),
      nonce: `0x${number.toString(16).padStart(64, '0')}`,
      signature: `0x${'12'.repeat(65)}`,
    },
    bank: {
      channelCode: 'ID_BCA',
      accountNumber: '1234567890',
      accountHolderName: 'Sari Dewi',
    },
  }
}

/** Stores a cash-out together with the postings of its state. */
export async function newCashout(db: PostgresJsDatabase, state: CashoutState): Promise<Cashout> {
  const number = newNumber()
  const id = crypto.randomUUID()
  const { wallet, authorization, bank } = requestOf(`quote ${id}`, number)
  const sealed = safe.seal(bank, id)
  const [row] = await db
    .insert(cashouts)
    .values({
      id,
      state,
      rateMinorPerUsd: 16_250n,
      ausdMicro,
      fiatMinor,
      quoteId: `quote ${id}`,
      wallet: wallet as `0x${string}`,
      authorizer: wallet as `0x${string}`,
      requestFingerprint: 'somebody',
      authorizationNonce: authorization.nonce,
      authorization,
      channelCode: bank.channelCode,
      bankDetails: sealed.box,
      bankDetailsKeyId: 'a',
    })
    .returning()
  const lines = positionOf(row!)
  if (lines.length > 0)
    await db.insert(journal).values(lines.map((one, line) => ({ ...one, line, posting: id, event: 'begun', item: id })))
  return row!
}

export async function lookAtCashout(db: PostgresJsDatabase, id: string) {
  const [row] = await db.select().from(cashouts).where(eq(cashouts.id, id))
  const said = await db
    .select({ subject: outbox.subject })
    .from(outbox)
    .where(sql`${outbox.payload} ->> 'payoutId' = ${id}`)
    .orderBy(asc(outbox.position))
  const booked = await db.select().from(journal).where(eq(journal.item, id))
  const called = await db.select().from(anomalies).where(eq(anomalies.payoutId, id))
  return {
    row: row!,
    subjects: said.map(({ subject }) => subject),
    called: called.map(({ kind }) => kind),
    missing: difference(position(booked), positionOf(row!)),
  }
}
