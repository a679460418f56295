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
import { type Cashout, findRivals, insertCashout, lockWallet, sumToday } from './cashout.store'
import type { Context } from './context'
import { coverCashout, uncoverCashout } from './cover/reserve'
import { checkBank, priceFloor } from './decide'
import { pauses, reservations } from './schema.store'

type CreateAnswer = AnswerOf<typeof CashoutCreate>

/** Until a cash-out is stored: whoever waits for something that hangs is told so within 2 s. */
const askMs = 1_700

/** Checks everything, sets the rupiah aside, counts, takes the quote, stores and answers. Nothing is taken before all checks pass. */
export const answerCashouts = (context: Context): Answering =>
  answering(CashoutCreate, async (raw) => {
    const asked = normalized(raw)
    const takenBy = fingerprintOf(asked)
    const known = await answerFromRivals(context, asked, takenBy)
    if (known && !('refused' in known && known.refused === 'authorization_conflict')) return known
    const checked = await check(context, asked, takenBy)
    // The same call, come twice, may have been first: what it changed is no reason to refuse.
    const first = 'refused' in checked && (await answerFromRivals(context, asked, takenBy))
    if (first && 'ok' in first) return first
    // What is wrong with the request itself is answered before what is wrong with the wallet.
    if ('refused' in checked && !mayFollow.has(checked.refused)) return checked
    if (known) return known // The authorization already serves another payout.
    if ('refused' in checked) return checked
    const { quoteId } = asked
    const covered = await coverCashout(context, { quoteId, fiatMinor: checked.fiatMinor })
    if ('refused' in covered) return covered
    return store(context, asked, { ...checked, takenBy })
  })

/** Lets an operator pause and resume what begins here. */
export const answerPayoutsPause = (context: Context): Answering =>
  answerPause(context, { question: PayoutsPause, table: pauses, what: 'payouts' })

/** Nothing in the request mends these: they are answered after all that could. */
const ofWallet: ReadonlySet<RefusalCode> = new Set(['wallet_frozen', 'gas_budget_spent'])
/** What the payout that an authorization already serves may itself have done to the wallet. */
const mayFollow: ReadonlySet<RefusalCode> = new Set([...ofWallet, 'balance_too_low', 'nonce_used'])

/** The answer, if this quote or this authorization already has a row. */
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

/** What a cash-out is worth by its quote. */
type Terms = { fiatMinor: bigint; rate: bigint; spreadBps: number }

/** All rules, in the order in which they are answered. */
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
  if (chain && !ofWallet.has(chain.refused)) return chain
  if (BigInt(asked.authorization.value) > context.dayMicroMax)
    return refuse('amount_above_day_limit')
  if (chain) return chain
  return { ...price, rate: BigInt(quote.ok.rate), spreadBps: quote.ok.spreadBps }
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
    const answer = await ask(AuthorizationCheck, { authorization }, askMs)
    return 'refused' in answer ? answer : undefined
  } catch (error) {
    const unclear = [Unavailable, Faulted, Overdue].some((kind) => error instanceof kind)
    if (unclear) return refuse('chain_unavailable')
    throw error
  }
}

/**
 * Counts, takes the quote and stores, under the lock of the wallet: of many calls at once each counts
 * what the one before stored, and a refusal leaves the quote unused. A crash after the quote was taken
 * stores nothing; the same call again is the same taker, and takes it again.
 */
async function store(
  context: Context,
  asked: CashoutRequest,
  terms: Terms & { takenBy: string },
): Promise<CreateAnswer> {
  const { quoteId, authorization, bank } = asked
  const id = uuidFor('payout', quoteId)
  const sealed = context.safe.seal(bank, id)
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
    nextCheckAt: fromNow(context.sweepAfterMs),
  }
  const { takenBy } = terms
  const stored = await context.database.transaction(async (tx) => {
    await lockWallet(tx, row.wallet)
    const rivals = await findRivals(tx, quoteId, row.authorizer, row.authorizationNonce)
    if (rivals.length > 0) return 'known'
    const today = await sumToday(tx, row.wallet)
    if (today.pausedSince) return refuse('cashouts_paused', today.pausedSince)
    if (today.micro + row.ausdMicro > context.dayMicroMax) return refuse('day_limit_reached')
    // The same call at the same moment was refused and gave it back.
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
  // A request like this one, at the same moment, was first.
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

/** One spelling of what a repeat may spell otherwise: numbers without leading zeros, no outer blanks. */
const normalized = (request: CashoutRequest): CashoutRequest => ({
  ...request,
  authorization: canonical(request.authorization),
  bank: { ...request.bank, accountHolderName: request.bank.accountHolderName.trim() },
})

/** The quote's taker: a hash of purpose, wallet and body. Of a normalized request. */
function fingerprintOf({ wallet, quoteId, authorization: a, bank: b }: CashoutRequest): string {
  const parts = [
    ...[wallet, quoteId, a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, a.signature],
    ...[b.channelCode, b.accountNumber, b.accountHolderName],
  ]
  return `cashout:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

/** An authorization must still be valid this long, for the way to the chain. */
/** How far ahead the end of a signed transfer must be. */
export const windowMinSeconds = 300n

/** The first rule the authorization breaks, in the order in which they are checked. */
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
