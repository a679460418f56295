import { eq, inArray } from 'drizzle-orm'
import { answerSettlements } from '../../../services/payments/checkout/settlement'
import { answerTopups } from '../../../services/payments/checkout/topup'
import { payments } from '../../../services/payments/payment.table'
import { sumPromised } from '../../../services/payments/treasury/promise.store'
import type { CashoutRequest } from '../../../services/payouts/cashout'
import { cashouts } from '../../../services/payouts/cashout.table'
import { sumPromisedFiat } from '../../../services/payouts/treasury/promise.store'
import { ausdMicro, newNumber, openAsk, openBook, openPayments, walletOf } from '../copies/payments'
import {
  openBank,
  openPayouts,
  ausdMicro as outMicro,
  fiatMinor as outMinor,
  requestOf,
  unlimited,
} from '../copies/payouts'
import { newQuote, openPricing } from '../copies/pricing'
import type { Result } from '../order'
import type { Race, RaceVerdict, Stage } from '../race'

// At most one of two concurrent requests may be accepted.

type Answer = { ok?: object; refused?: string }
const answerOf = (result: Result): Answer =>
  'error' in result ? { refused: `threw ${result.error}` } : (result.value as Answer)
const wordOf = (result: Result): string => answerOf(result).refused ?? 'ok'

/** Returns the faults. The refused request must have the right reason. */
function oneOf(results: readonly Result[], rows: readonly unknown[], why: string) {
  const words = results.map(wordOf)
  const outcome = words.join(' | ')
  const isRight = words.toSorted().join() === ['ok', why].toSorted().join() && rows.length === 1
  return { outcome, wrong: isRight ? [] : [`${outcome}, ${rows.length} rows`] }
}

const topupsOf = ({ db }: Stage, asked: readonly TopupRequest[]) =>
  db
    .select()
    .from(payments)
    .where(
      inArray(
        payments.quoteId,
        asked.map(({ quoteId }) => quoteId),
      ),
    )

function twoTopups(options: {
  name: string
  turns: Race['turns']
  chance?: number
  over: (stage: Stage) => Promise<Parameters<typeof openPayments>[2]>
  requests: () => readonly [TopupRequest, TopupRequest]
  judge: (stage: Stage, requests: readonly TopupRequest[], results: readonly Result[]) => Promise<RaceVerdict>
}): Race {
  const { name, turns, chance, over, requests, judge } = options
  return {
    name,
    turns,
    ...(chance ? { chance } : {}),
    open: async (stage) => {
      const terms = await over(stage)
      const copies = stage.sides.map((side) => openPayments(side, openBook(), terms))
      return async () => {
        const asked = requests()
        const work = (at: 0 | 1) => () => answerTopups(copies[at]!.context).answer(asked[at] as never)
        return {
          works: [work(0), work(1)],
          judge: (results) => judge(stage, asked, results),
        }
      }
    },
  }
}
type TopupRequest = { wallet: `0x${string}`; amount: string; method: 'qr'; quoteId: string }
const asking = (wallet: `0x${string}`, quoteId: string = crypto.randomUUID()): TopupRequest => ({
  wallet,
  amount: '50000',
  method: 'qr',
  quoteId,
})

const topups: readonly Race[] = [
  // guard: a wallet's top-ups are counted under its lock
  // together with: top-ups are promised one at a time across all instances
  twoTopups({
    name: 'two top-ups of one wallet, with a daily limit for one',
    turns: ({ transaction }) => transaction === 1,
    over: async () => ({ settings: { topupDayMaxUsd: ausdMicro / 1_000_000n + 1n } }),
    requests: () => {
      const wallet = walletOf(newNumber())
      return [asking(wallet), asking(wallet)]
    },
    judge: async (stage, asked, results) => oneOf(results, await topupsOf(stage, asked), 'day_limit_reached'),
  }),
  // guard: top-ups are promised one at a time across all instances
  twoTopups({
    name: 'two top-ups, and the treasury covers one',
    turns: ({ transaction }) => transaction === 1,
    over: async (stage) => {
      await expireAll(stage)
      const readAt = new Date()
      // The unpaid top-ups of a wallet may hold half of the free AUSD.
      const drawableMicro = (await sumPromised(stage.db, readAt)) + 2n * ausdMicro + 1n
      const mostMicro = { creditMaxMicro: 10n ** 15n, repayMaxMicro: 10n ** 15n }
      const treasury = { drawableMicro, orderedMicro: 0n, owedMicro: 0n, ...mostMicro, readAt }
      return { treasury: { ...treasury, balanceMicro: drawableMicro } }
    },
    requests: () => [asking(walletOf(newNumber())), asking(walletOf(newNumber()))],
    judge: async (stage, asked, results) => {
      const verdict = oneOf(results, await topupsOf(stage, asked), 'treasury_short')
      await expireAll(stage)
      return verdict
    },
  }),
  twoTopups({
    name: 'one top-up, requested twice',
    // A request polls while the other opens the checkout.
    chance: 300,
    turns: ({ transaction }) => transaction !== 1,
    over: async () => ({ settings: { topupDayMaxUsd: ausdMicro / 1_000_000n + 1n } }),
    requests: () => {
      const asked = asking(walletOf(newNumber()))
      return [asked, asked]
    },
    judge: async (stage, asked, results) => {
      const rows = await topupsOf(stage, asked)
      const outcome = results.map(wordOf).join(' | ')
      const answers = new Set(results.map((result) => JSON.stringify(answerOf(result).ok)))
      const isSame = answers.size === 1 && rows.length === 1
      return { outcome, wrong: isSame ? [] : [`${outcome}, ${rows.length} rows`] }
    },
  }),
]

const expireAll = ({ db }: Stage) =>
  db.update(payments).set({ state: 'expired' }).where(eq(payments.state, 'awaiting_payment'))

function twoCashouts(options: {
  name: string
  turns: Race['turns']
  over: (stage: Stage) => Promise<Parameters<typeof openPayouts>[2]>
  requests: () => readonly [CashoutRequest, CashoutRequest]
  why: string
}): Race {
  const { name, turns, over, requests, why } = options
  return {
    name,
    turns,
    open: async (stage) => {
      const terms = await over(stage)
      const copies = stage.sides.map((side) => openPayouts(side, openBank(), terms))
      return async () => {
        const asked = requests()
        return {
          works: [() => copies[0]!.create(asked[0]), () => copies[1]!.create(asked[1])],
          judge: async (results) => {
            const quotes = asked.map(({ quoteId }) => quoteId)
            const isTheirs = inArray(cashouts.quoteId, quotes)
            const rows = await stage.db.select().from(cashouts).where(isTheirs)
            await stage.db.update(cashouts).set({ state: 'failed' }).where(isTheirs)
            return oneOf(results, rows, why)
          },
        }
      }
    },
  }
}

const cashoutRaces: readonly Race[] = [
  // guard: a wallet's cash-outs of a day are counted under its lock
  // together with: a bank account's cash-outs are counted one after another
  // together with: rupiah are promised one at a time across all instances
  twoCashouts({
    name: 'two cash-outs of one wallet, with a daily limit for one',
    turns: ({ transaction }) => transaction === 1,
    over: async () => ({ settings: { cashoutDayMaxUsd: outMicro / 1_000_000n } }),
    requests: () => {
      const wallet = newNumber()
      const request = () => requestOf(crypto.randomUUID(), newNumber(), wallet)
      return [request(), request()]
    },
    why: 'day_limit_reached',
  }),
  // guard: rupiah are promised one at a time across all instances
  // together with: a bank account's cash-outs are counted one after another
  twoCashouts({
    name: 'two cash-outs, and the balance covers one',
    turns: ({ transaction }) => transaction === 1,
    over: async ({ db }) => {
      const readAt = new Date()
      return { balance: { minor: (await sumPromisedFiat(db, readAt)) + outMinor + 1n, readAt } }
    },
    requests: () => [requestOf(crypto.randomUUID()), requestOf(crypto.randomUUID())],
    why: 'payouts_short',
  }),
  // guard: a wallet's cash-outs of a day are counted under its lock
  // together with: a signed transfer pays one cash-out
  // together with: unique index payouts.payouts_authorization
  twoCashouts({
    name: 'two cash-outs with one signed transfer',
    turns: ({ transaction }) => transaction === 1,
    over: async () => ({}),
    requests: () => {
      const number = newNumber()
      return [requestOf(crypto.randomUUID(), number), requestOf(crypto.randomUUID(), number)]
    },
    why: 'authorization_conflict',
  }),
]

const cashoutsOf = ({ db }: Stage, quoteId: string) => db.select().from(cashouts).where(eq(cashouts.quoteId, quoteId))

/** Race in which each service asks an instance of pricing. */
// guard: a quote is taken once
const oneQuote: Race = {
  name: 'one quote, taken by a top-up and by a cash-out',
  chance: 500,
  turns: ({ transaction, text }) => transaction === 2 || /quotes_taken/.test(text) || text === 'commit',
  open: async (stage) => {
    const [left, right] = stage.sides
    const top = openPayments(left, openBook(), { ask: openAsk(openPricing(left)) })
    const authorized = { 'chain.authorization.check': () => ({ ok: unlimited }) }
    const out = openPayouts(right, openBank(), {
      ask: openAsk({ ...openPricing(right), ...authorized }),
    })
    return async () => {
      const quoteId = newQuote()
      const asked = asking(walletOf(newNumber()), quoteId)
      return {
        works: [() => answerTopups(top.context).answer(asked as never), () => out.create(requestOf(quoteId))],
        judge: async (results) => {
          const rows = [
            ...(await topupsOf(stage, [asked])).filter(({ state }) => state !== 'expired'),
            ...(await cashoutsOf(stage, quoteId)).filter(({ state }) => state !== 'expired'),
          ]
          return oneOf(results, rows, 'quote_used')
        },
      }
    }
  },
}

/** Race in which each settlement charges the whole debt, so that two could charge it twice. */
// guard: settlements of a wallet are opened under its lock
// together with: unique index payments.payments_open_settlement
const settlements: Race = {
  name: 'two settlements of one debt',
  chance: 500,
  turns: ({ transaction, text }) => transaction > 0 || !text.startsWith('select'),
  open: async (stage) => {
    const book = openBook()
    const copies = stage.sides.map((side) => openPayments(side, book))
    return async () => {
      const wallet = walletOf(newNumber())
      const work = (at: 0 | 1) => () => {
        const request = { wallet, quoteId: crypto.randomUUID() }
        return answerSettlements(copies[at]!.context).answer(request as never)
      }
      return {
        works: [work(0), work(1)],
        judge: async (results) => {
          const rows = await stage.db.select().from(payments).where(eq(payments.wallet, wallet))
          const mayBePaid = rows.filter(
            ({ checkoutId }) => checkoutId && book.checkouts.get(checkoutId)?.status === 'open',
          )
          const open = rows.filter(({ state }) => ['opening', 'awaiting_payment'].includes(state))
          const words = results.map(wordOf)
          const outcome = `${words.join(' | ')}; open: ${open.length}`
          const strange = words.filter((word) => !['ok', 'provider_unavailable'].includes(word))
          const isRight = open.length <= 1 && mayBePaid.length <= 1 && strange.length === 0
          return { outcome, wrong: isRight ? [] : [`${outcome}, payable: ${mayBePaid.length}`] }
        },
      }
    }
  },
}

export const opened: readonly Race[] = [...topups, settlements, ...cashoutRaces, oneQuote]
