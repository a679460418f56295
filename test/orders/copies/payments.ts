import { asc, eq, sql } from 'drizzle-orm'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Ask } from '#platform/bus/ask'
import { handle } from '#platform/bus/handling'
import { openLog } from '#platform/log'
import { difference, position } from '#shared/ledger/position'
import type { Question } from '#shared/messages/topic'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { ok } from '#shared/refusals'
import { defaultsOf } from '#test/support/settings'
import { assemble, type Means, messagesOf } from '../../../services/payments/assemble'
import { type Config, fields } from '../../../services/payments/config'
import { positionOf } from '../../../services/payments/ledger/position'
import { insertPayment, movePayment } from '../../../services/payments/payment.store'
import { payments } from '../../../services/payments/payment.table'
import type { Checkout, FetchedCharge, FetchedRefund } from '../../../services/payments/provider'
import { openXendit } from '../../../services/payments/providers/xendit/client'
import { journal, outbox } from '../../../services/payments/schema.store'
import type { TreasuryCover } from '../../../services/payments/treasury/cover'
import type { Side } from '../side'

const log = openLog('payments', process.env.SUITE_LOG ?? 'silent')

export type Book = {
  readonly checkouts: Map<string, Checkout>
  readonly charges: Map<string, FetchedCharge>
  readonly refunds: Map<string, FetchedRefund>
}
export const openBook = (): Book => ({
  checkouts: new Map(),
  charges: new Map(),
  refunds: new Map(),
})

/** Client that parses webhooks as the service does and makes no calls. */
const xendit = openXendit({
  baseUrl: 'http://127.0.0.1:9',
  secretKeys: { ID: 'id', MY: 'my' },
  log,
  requestsPerMinute: 60_000,
  appUrl: 'https://app.example',
})

export const fiatMinor = 50_000n
export const ausdMicro = 3_076_923n

/** Opens an instance of payments on the session's connection. */
export function openPayments(
  side: Side,
  book: Book,
  over: { ask?: Ask; treasury?: TreasuryCover; settings?: Partial<Config> } = {},
) {
  const treasury = over.treasury ?? {
    balanceMicro: 10n ** 15n,
    drawableMicro: 10n ** 15n,
    orderedMicro: 0n,
    owedMicro: 0n,
    creditMaxMicro: 10n ** 15n,
    repayMaxMicro: 10n ** 15n,
    readAt: new Date(),
  }
  const means: Means = {
    database: side.database('payments'),
    provider: {
      ...xendit,
      findCheckout: async (_, id) => book.checkouts.get(id),
      findCharge: async (_, id) => book.charges.get(id),
      findChargeOfRequest: async (_, id) =>
        [...book.charges.values()].findLast(({ charge }) => charge.paymentRequestId === id) ?? null,
      findRefund: async (_, id) => book.refunds.get(id),
      openCheckout: async ({ reference, lifeMs }) => {
        await side.outside('a checkout is opened at the provider')
        const expiresAt = new Date(Date.now() + lifeMs)
        const checkout: Checkout = {
          checkoutId: `ps-${reference}-${side.name}`,
          reference,
          status: 'open',
          expiresAt,
          checkoutUrl: 'https://pay.example',
          paymentRequestId: null,
          paymentId: null,
        }
        book.checkouts.set(checkout.checkoutId, checkout)
        return checkout
      },
      cancelCheckout: async (_, id) => {
        await side.outside('a checkout is ended at the provider')
        const known = book.checkouts.get(id)
        if (known?.status === 'completed') return 'completed'
        if (known) book.checkouts.set(id, { ...known, status: 'cancelled' })
        return 'closed'
      },
    },
    ask: over.ask ?? openAsk(),
    treasury: {
      refresh: async () => {},
      current: async () => treasury,
      last: () => treasury,
    },
    log,
    clock: Date.now,
    poke: () => {},
  }
  const context = assemble({ ...defaultsOf('payments', fields), ...over.settings }, means)
  const reader = messagesOf(context)
  return {
    context,
    deliver: (event: string, data: object, messageId: string) =>
      handle(reader, {
        subject: paymentsWebhookSubject('ID', 'payments', messageId),
        messageId,
        payload: {
          account: 'ID',
          deliveryId: messageId,
          receivedAt: new Date().toISOString(),
          body: JSON.stringify({ event, data }),
        },
      }),
    told: (kind: 'credit' | 'revoke', cause: string, wallet: string) =>
      handle(reader, {
        subject: `relay.${kind}.settled`,
        messageId: `${kind}:${cause}:${side.name}`,
        payload: {
          operationId: 'op_1',
          cause,
          wallet,
          reason: 'none',
          blockNumber: '7',
          txHash: `0x${'ab'.repeat(32)}`,
        },
      }),
  }
}

export function openAsk(answers: Readonly<Record<string, (request: never) => unknown>> = {}): Ask {
  const known: Record<string, (request: never) => unknown> = {
    'chain.account': ({ wallet }: { wallet: string }) =>
      ok({ wallet, verified: true, drawn: '1000000', frozen: false }),
    'indexer.debt': () => ok({ owedForDay: '1000000', openedAt: null, blockTime: '0' }),
    'chain.terms': () => ok({ cycle: { termSeconds: 86_400 } }),
    'pricing.quote.find': ({ quoteId: id }: { quoteId: string }) =>
      ok({ id, pair: 'USD/IDR', rate: '16250', spreadBps: 0, expiresAt: '' }),
    'pricing.quote.take': ({ quoteId: id }: { quoteId: string }) =>
      ok({ id, pair: 'USD/IDR', rate: '16250', spreadBps: 0, expiresAt: '' }),
    ...answers,
  }
  return (async ({ subject }: Question, request: unknown) => known[subject]!(request as never)) as unknown as Ask
}

let made = 0
/** Returns a number that keeps the rows of orders apart. */
export const newNumber = (): number => ++made
export const walletOf = (number: number): `0x${string}` => `0x${number.toString(16).padStart(40, '0')}`

export async function newTopup(db: PostgresJsDatabase, book: Book) {
  const number = newNumber()
  const id = `pay_${String(number).padStart(22, '0')}`
  const names = {
    id,
    wallet: walletOf(number),
    checkoutId: `ps-${number}`,
    chargeId: `py-${number}`,
    requestId: `pr-${number}`,
    refundId: `rfd-${number}`,
  }
  const { wallet, checkoutId, requestId: paymentRequestId, chargeId: paymentId } = names
  const expiresAt = new Date(Date.now() + 900_000)
  await db.transaction(async (tx) =>
    insertPayment(
      tx,
      {
        id,
        kind: 'topup',
        state: 'opening',
        wallet,
        pair: 'USD/IDR',
        currency: 'IDR',
        rateMinorPerUsd: 16_250n,
        fiatMinor,
        ausdMicro,
        topupMicro: ausdMicro,
        method: 'qr',
        quoteId: `quote ${id}`,
        requestFingerprint: 'somebody',
        account: 'ID',
      },
      7_000,
    ),
  )
  await movePayment(db, id, {
    from: 'opening',
    to: 'awaiting_payment',
    nextCheckAt: null,
    set: { checkoutId, checkoutUrl: 'https://pay.example', expiresAt, paymentRequestId },
  })
  book.checkouts.set(checkoutId, {
    checkoutId,
    reference: id,
    status: 'completed',
    checkoutUrl: null,
    expiresAt,
    paymentRequestId,
    paymentId,
  })
  return names
}
export type Topup = Awaited<ReturnType<typeof newTopup>>

export const chargeOf = (
  { id, requestId }: Topup,
  paymentId: string,
  channelKind: 'qr' | 'card' = 'qr',
): FetchedCharge => ({
  status: 'succeeded',
  charge: {
    account: 'ID',
    paymentId,
    paymentRequestId: requestId,
    reference: id,
    currency: 'IDR',
    paidMinor: fiatMinor,
    channel: channelKind,
    channelKind,
    paidAt: new Date(),
    issuer: null,
    bankReceipt: null,
  },
})

export async function lookAt(db: PostgresJsDatabase, id: string) {
  const [row] = await db.select().from(payments).where(eq(payments.id, id))
  const said = await db
    .select({ subject: outbox.subject })
    .from(outbox)
    .where(sql`${outbox.payload} ->> 'wallet' = ${row!.wallet}`)
    .orderBy(asc(outbox.position))
  const booked = await db.select().from(journal).where(eq(journal.item, id))
  const missing = difference(position(booked), positionOf(row!))
  return { row: row!, subjects: said.map(({ subject }) => subject), missing }
}
