import { createHash } from 'node:crypto'
import { Faulted, Unavailable } from '#shared/bus/ask'
import { answerPause } from '#shared/bus/pausing'
import { type Answering, answering } from '#shared/bus/serve'
import { canonical } from '#shared/chain/erc3009'
import { toUnixSeconds } from '#shared/clock'
import { fromNow } from '#shared/db/columns'
import { useReservation } from '#shared/db/reservation.store'
import { Overdue, within } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { uuidFor } from '#shared/ids'
import { AuthorizationCheck } from '#shared/messages/chain'
import { CashoutCreate, PayoutsPause } from '#shared/messages/payouts'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import type { AnswerOf } from '#shared/messages/topic'
import { ok, type Refusal, type RefusalCode, refuse } from '#shared/refusals'
import { requestId } from '#shared/request-id'
import { orderTake } from './advance'
import type { CashoutRequest } from './cashout'
import {
  type Cashout,
  findRivals,
  insertCashout,
  lockAccount,
  lockWallet,
  sumTaking,
  sumToday,
  sumTodayTo,
} from './cashout.store'
import type { Context } from './context'
import { coverCashout, uncoverCashout } from './cover/reserve'
import { checkBank, priceFloor } from './decide'
import { pauses, reservations } from './schema.store'

type CreateAnswer = AnswerOf<typeof CashoutCreate>

/** Timeout of each call before a cash-out is stored, so that a hang is answered within 2 s. */
const askMs = 1_700

/**
 * Accepts cash-outs: runs all checks, reserves the rupiah, counts the day's total, takes the quote
 * and stores the row. No AUSD is taken before all checks pass.
 */
export const answerCashouts = (context: Context): Answering =>
  answering(CashoutCreate, async (raw) => {
    const asked = normalized(raw)
    const takenBy = fingerprintOf(asked)
    const known = await answerFromRivals(context, asked, takenBy)
    if (known && !('refused' in known && known.refused === 'authorization_conflict')) return known
    const checked = await check(context, asked, takenBy)
    // A concurrent retry may have succeeded and caused this refusal.
    const first = 'refused' in checked && (await answerFromRivals(context, asked, takenBy))
    if (first && 'ok' in first) return first
    // Faults of the request are reported before those of the wallet.
    if ('refused' in checked && !mayFollow.has(checked.refused)) return checked
    if (known) return known // The authorization is already used by another cash-out.
    if ('refused' in checked) return checked
    const { quoteId } = asked
    const covered = await coverCashout(context, { quoteId, fiatMinor: checked.fiatMinor })
    if ('refused' in covered) return covered
    return store(context, asked, { ...checked, takenBy })
  })

/** Lets an operator pause and resume new cash-outs. */
export const answerPayoutsPause = (context: Context): Answering =>
  answerPause(context, { question: PayoutsPause, table: pauses, what: 'payouts' })

/** Refusals no change of the request can fix; reported after all others. */
const ofWallet: ReadonlySet<RefusalCode> = new Set(['wallet_frozen', 'gas_budget_spent'])
/** Refusals that the cash-out already using this authorization may itself have caused. */
const mayFollow: ReadonlySet<RefusalCode> = new Set([...ofWallet, 'balance_too_low', 'nonce_used'])

/** Returns the response if this quote or authorization already has a row. */
async function answerFromRivals(
  { database }: Context,
  { quoteId, authorization }: CashoutRequest,
  takenBy: string,
): Promise<CreateAnswer | undefined> {
  const { from, nonce } = authorization
  const finding = database.read((db) => findRivals(db, quoteId, from, nonce))
  const rivals = await within(finding, askMs, 'the database')
  const same = rivals.find((row) => row.quoteId === quoteId)
  if (same) return same.takenBy === takenBy ? ok(answerOf(same)) : refuse('quote_used')
  return rivals.length > 0 ? refuse('authorization_conflict') : undefined
}

/** Price of a cash-out at its quote, and the relayer's figures for its wallet. */
type Terms = { fiatMinor: bigint; rate: bigint; spreadBps: number; holding: Holding }
type Holding = Extract<AnswerOf<typeof AuthorizationCheck>, { ok: unknown }>['ok']

/** Runs all checks in the order in which they are reported. */
async function check(
  context: Context,
  asked: CashoutRequest,
  takenBy: string,
): Promise<Terms | Refusal> {
  const nowSeconds = BigInt(toUnixSeconds(context.clock()))
  const refused = checkAuthorization(asked, { treasury: context.treasury, nowSeconds })
  if (refused) return refuse(refused)
  const quote = await context.ask(QuoteFind, { quoteId: asked.quoteId, takenBy }, askMs)
  if ('refused' in quote) return quote
  const price = priceFloor(BigInt(asked.authorization.value), quote.ok)
  if ('refused' in price) return price
  const bank = await checkChannel(context, asked, price.fiatMinor)
  if (bank) return refuse(bank)
  const chain = await checkOnChain(context, asked)
  if ('refused' in chain && !ofWallet.has(chain.refused)) return chain
  if (BigInt(asked.authorization.value) > context.dayMicroMax)
    return refuse('amount_above_day_limit')
  if ('refused' in chain) return chain
  const { rate, spreadBps } = quote.ok
  return { ...price, rate: BigInt(rate), spreadBps, holding: chain.ok }
}

async function checkChannel(context: Context, asked: CashoutRequest, fiatMinor: bigint) {
  const found = await context.channels.find(asked.bank.channelCode).then(
    (channel) => ({ channel }),
    () => undefined,
  )
  if (!found) return 'provider_unavailable' // Already logged where the list is fetched.
  return checkBank(asked.bank, fiatMinor, found.channel, context.accountLengths)
}

async function checkOnChain({ ask }: Context, { authorization }: CashoutRequest) {
  try {
    return await ask(AuthorizationCheck, { authorization }, askMs)
  } catch (error) {
    const unclear = [Unavailable, Faulted, Overdue].some((kind) => error instanceof kind)
    if (unclear) return refuse('chain_unavailable')
    throw error
  }
}

/**
 * Counts the wallet's open takes and its total of the day, and that of the bank account over all
 * wallets, takes the quote and stores the row under the locks of both: concurrent
 * requests are counted one after another, and a refusal leaves the quote unused. A crash after
 * taking the quote stores nothing; the retry has the same fingerprint and can take it again.
 */
async function store(
  context: Context,
  asked: CashoutRequest,
  terms: Terms & { takenBy: string },
): Promise<CreateAnswer> {
  const { quoteId, authorization, bank } = asked
  const id = uuidFor('payout', quoteId)
  const sealed = context.safe.seal(bank, id)
  const marks = context.safe.marksOf(bank)
  const { free, counted = [] } = terms.holding
  const row = {
    id,
    wallet: asked.wallet,
    state: 'taking' as const,
    rateMinorPerUsd: terms.rate,
    spreadBps: terms.spreadBps,
    ausdMicro: BigInt(authorization.value),
    fiatMinor: terms.fiatMinor,
    quoteId,
    takenBy: terms.takenBy,
    requestId: requestId() ?? null,
    authorizer: authorization.from,
    authorizationNonce: authorization.nonce,
    authorization,
    channelCode: bank.channelCode,
    bankDetails: sealed.box,
    bankDetailsKeyId: sealed.keyId,
    accountMark: marks[0]!,
    nextCheckAt: fromNow(context.sweepAfterMs),
  }
  const { takenBy } = terms
  const stored = await context.database.transaction(async (tx) => {
    await lockWallet(tx, row.wallet)
    const rivals = await findRivals(tx, quoteId, row.authorizer, row.authorizationNonce)
    if (rivals.length > 0) return 'known'
    // One balance serves one cash-out, however many are requested before the first take is ordered.
    const takingMicro = await sumTaking(tx, row.wallet, counted)
    if (free !== undefined && takingMicro + row.ausdMicro > BigInt(free))
      return refuse('balance_too_low')
    const today = await sumToday(tx, row.wallet)
    if (today.pausedSince) return refuse('cashouts_paused', today.pausedSince)
    if (today.givenBack >= context.givenBackMax.ofWallet) return refuse('cashouts_refused_too_many')
    if (today.micro + row.ausdMicro > context.dayMicroMax) return refuse('day_limit_reached')
    await lockAccount(tx, row.accountMark)
    const todayTo = await sumTodayTo(tx, marks)
    if (todayTo.givenBack >= context.givenBackMax.toAccount)
      return refuse('cashouts_refused_too_many')
    if (todayTo.micro + row.ausdMicro > context.dayMicroMax) return refuse('day_limit_reached')
    // A concurrent identical request was refused and released the reservation.
    if (!(await useReservation(tx, reservations, quoteId))) return refuse('provider_unavailable')
    const taken = await context.ask(QuoteTake, { quoteId, takenBy }, askMs)
    if ('refused' in taken) return taken
    failpoint('payouts:quote-taken')
    const cashout = await insertCashout(tx, row)
    if (!cashout) return 'known'
    await orderTake(tx, cashout)
    return 'stored'
  })
  if (stored !== 'stored') await uncoverCashout(context, quoteId)
  if (typeof stored === 'object') return stored
  // A concurrent request with the same quote or authorization won.
  if (stored === 'known')
    return (await answerFromRivals(context, asked, terms.takenBy)) ?? refuse('quote_used')
  failpoint('payouts:row-stored')
  context.poke()
  context.log.info({ payoutId: id, wallet: row.wallet, quoteId }, 'cash-out accepted')
  return ok(answerOf(row))
}

const answerOf = ({
  id,
  ausdMicro,
  fiatMinor,
}: Pick<Cashout, 'id' | 'ausdMicro' | 'fiatMinor'>) => ({
  payoutId: id,
  ausd: ausdMicro.toString(),
  fiat: fiatMinor.toString(),
})

/** Normalises a request, so that a retry with leading zeros or outer blanks is the same request. */
const normalized = (request: CashoutRequest): CashoutRequest => ({
  ...request,
  authorization: canonical(request.authorization),
  bank: { ...request.bank, accountHolderName: request.bank.accountHolderName.trim() },
})

/** Returns the fingerprint that takes the quote: a hash of purpose, wallet and normalised body. */
function fingerprintOf({ wallet, quoteId, authorization: a, bank: b }: CashoutRequest): string {
  const parts = [
    ...[wallet, quoteId, a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, a.signature],
    ...[b.channelCode, b.accountNumber, b.accountHolderName],
  ]
  return `cashout:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

/** Minimum remaining validity of an authorization, so that it reaches the chain in time. */
export const windowMinSeconds = 300n

/** Returns the first rule the authorization breaks. */
function checkAuthorization(
  { wallet, authorization }: CashoutRequest,
  known: { treasury: string; nowSeconds: bigint },
): RefusalCode | undefined {
  if (authorization.from !== wallet) return 'wallet_not_from'
  if (authorization.to !== known.treasury) return 'to_not_treasury'
  if (BigInt(authorization.value) === 0n) return 'value_zero'
  if (BigInt(authorization.validAfter) > known.nowSeconds) return 'valid_after_not_reached'
  if (BigInt(authorization.validBefore) < known.nowSeconds + windowMinSeconds)
    return 'valid_before_too_near'
  return undefined
}
