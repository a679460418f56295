import { createHash } from 'node:crypto'
import { askOr } from '#platform/bus/ask'
import { answerPause } from '#platform/bus/pausing'
import { type Handler, handler } from '#platform/bus/serve'
import { toUnixSeconds } from '#platform/clock'
import { fromNow } from '#platform/db/columns'
import { unlockBeforeSync } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { requestId } from '#platform/request-id'
import { canonical } from '#shared/chain/given-authorization'
import { uuidFor } from '#shared/ids'
import { AuthorizationCheck } from '#shared/messages/chain'
import { CashoutCreate, PayoutsPause } from '#shared/messages/payouts'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import type { AnswerOf } from '#shared/messages/topic'
import { isInPilot } from '#shared/money/pilot'
import { type Answer, ok, type Refusal, type RefusalCode, refuse } from '#shared/refusals'
import { type CashoutRequest, openingMaxMs } from '../cashout'
import {
  findCashout,
  findRivals,
  insertCashout,
  lockAccount,
  lockAllCashouts,
  lockClosedMarket,
  lockWallet,
  sumAllOfDay,
  sumClosedOfDay,
  sumDayTo,
  sumTaking,
  sumToday,
  wasPaidTo,
} from '../cashout.store'
import type { Cashout, NewCashout } from '../cashout.table'
import type { Context } from '../context'
import { checkBank, priceFloor } from '../decide'
import { expire, startTaking } from '../onchain/advance'
import { pauses } from '../schema.store'
import type { Balance } from '../treasury/balance'
import { mayReserve } from '../treasury/reserve'
import { findListed } from './bank'

type CreateAnswer = AnswerOf<typeof CashoutCreate>

/** Deadline of a request to another service, in ms: a hanging call is answered within 2 s. */
const askMs = 1_700

/**
 * Runs all checks, stores the row, takes the quote, and orders the AUSD. A stored row counts for every limit,
 * and its age bounds that of its rate. A refusal before the row is stored changes nothing; a refusal of the
 * quote ends the row.
 */
export const openCashouts = (context: Context): Handler =>
  handler(CashoutCreate, async (raw) => {
    const asked = normalized(raw)
    const requestFingerprint = fingerprintOf(asked)
    const known = await answerFromRivals(context, asked, requestFingerprint)
    if (known && !('refused' in known && known.refused === 'authorization_conflict')) return known
    const checked = raw.termsMissing ? refuse('terms_not_accepted') : await check(context, asked, requestFingerprint)
    // A concurrent retry may have succeeded and caused this refusal.
    const first = 'refused' in checked && (await answerFromRivals(context, asked, requestFingerprint))
    if (first && 'ok' in first) return first
    // Errors in the request are reported before those of the wallet.
    if ('refused' in checked && !mayFollow.has(checked.refused)) return checked
    if (known) return known // Another cash-out uses the authorization.
    if ('refused' in checked) return checked
    const stored = await store(context, asked, { ...checked, requestFingerprint })
    if ('refused' in stored) return stored
    if (stored.ok !== 'known') return accept(context, stored.ok)
    // A concurrent request with the same quote or authorization was stored first.
    return (await answerFromRivals(context, asked, requestFingerprint)) ?? refuse('quote_used')
  })

export const answerPayoutsPause = (context: Context): Handler =>
  answerPause(context, { question: PayoutsPause, table: pauses, what: 'payouts' })

/** Refusals that no change of the request resolves; they are reported last. */
const ofWallet: ReadonlySet<RefusalCode> = new Set(['wallet_frozen', 'gas_budget_spent', 'not_in_pilot'])
/** Refusals that may be caused by the cash-out that already uses this authorization. */
const mayFollow: ReadonlySet<RefusalCode> = new Set([...ofWallet, 'balance_too_low', 'nonce_used'])

/**
 * Answers with the cash-out that already has this quote or authorization. A retry continues with its row from
 * the step at which a crash stopped it.
 */
async function answerFromRivals(
  context: Context,
  { quoteId, authorization }: CashoutRequest,
  requestFingerprint: string,
): Promise<CreateAnswer | undefined> {
  const { from, nonce } = authorization
  const finding = context.database.read((db) => findRivals(db, quoteId, from, nonce))
  const rivals = await within(finding, askMs, 'the database')
  const same = rivals.find((row) => row.quoteId === quoteId)
  if (same)
    // guard: a quote that made a cash-out serves no other request
    return same.requestFingerprint === requestFingerprint ? resume(context, same) : refuse('quote_used')
  return rivals.length > 0 ? refuse('authorization_conflict') : undefined
}

type CashoutTerms = { fiatMinor: bigint; feeMinor: bigint; rate: bigint; spreadBps: number; holding: Holding }
type Holding = Extract<AnswerOf<typeof AuthorizationCheck>, { ok: unknown }>['ok']

/** Runs the checks that precede the row. Their order decides which refusal is reported. */
async function check(
  context: Context,
  asked: CashoutRequest,
  requestFingerprint: string,
): Promise<CashoutTerms | Refusal> {
  const nowSeconds = BigInt(toUnixSeconds(context.clock()))
  const refused = checkAuthorization(asked, { treasury: context.treasury, nowSeconds })
  if (refused) return refuse(refused)
  const quote = await context.ask(QuoteFind, { quoteId: asked.quoteId, requestFingerprint, use: 'pay_out' }, askMs)
  if ('refused' in quote) return quote
  const price = priceFloor(BigInt(asked.authorization.value), quote.ok)
  if ('refused' in price) return price
  const bank = await checkChannel(context, asked, price.fiatMinor)
  if (bank) return refuse(bank)
  const chain = await checkOnChain(context, asked)
  // guard: a signed transfer that the chain would refuse is refused
  if ('refused' in chain && !ofWallet.has(chain.refused)) return chain
  if (BigInt(asked.authorization.value) > context.dayMicroMax) return refuse('amount_above_day_limit')
  // guard: a frozen wallet cannot cash out
  if ('refused' in chain) return chain
  // guard: during a pilot, only invited wallets cash out
  if (!isInPilot(context.pilot, asked.wallet)) return refuse('not_in_pilot')
  const { rate, spreadBps } = quote.ok
  return { ...price, rate: BigInt(rate), spreadBps, holding: chain.ok }
}

async function checkChannel(context: Context, asked: CashoutRequest, fiatMinor: bigint) {
  const found = await findListed(context.channels, asked.bank.channelCode)
  if (!found) return 'provider_unavailable'
  return checkBank(asked.bank, fiatMinor, found.channel, context.accountLengths)
}

const checkOnChain = ({ ask }: Context, { authorization }: CashoutRequest) =>
  askOr(ask, AuthorizationCheck, { authorization }, 'chain_unavailable', askMs)

/** Age, in ms, above which an insufficient balance is read again. */
const askAgainMs = 5_000

async function store(
  context: Context,
  asked: CashoutRequest,
  terms: CashoutTerms & { requestFingerprint: string },
): Promise<Answer<Cashout | 'known'>> {
  const { balance, clock } = context
  const known = await balance.current()
  if (!known) return refuse('provider_unavailable')
  const stored = await storeWithin(context, asked, terms, known)
  const isShort = 'refused' in stored && stored.refused === 'payouts_short'
  if (!isShort || clock() - known.readAt.getTime() < askAgainMs) return stored
  await balance.refresh()
  const newer = balance.last()
  return newer ? storeWithin(context, asked, terms, newer) : stored
}

/** Stores the row under the locks of all limits, so that concurrent requests are counted one after another. */
async function storeWithin(
  context: Context,
  asked: CashoutRequest,
  terms: CashoutTerms & { requestFingerprint: string },
  balance: Balance,
): Promise<Answer<Cashout | 'known'>> {
  const { quoteId, authorization, bank } = asked
  const marks = context.safe.marksOf(bank)
  const row = rowOf(context, asked, { ...terms, accountMark: marks[0]! })
  const stored = await context.database.transaction(async (tx): Promise<(() => Cashout | undefined) | Refusal> => {
    const { wallet } = asked
    const ausdMicro = BigInt(authorization.value)
    // Each limit takes its lock when it is called, and reads after the locks of all: their order is that of this list.
    const limits = [
      limitWallet(tx, context, { wallet, ausdMicro, ...terms.holding }),
      limitAccount(tx, context, { wallet, marks, ausdMicro }),
      limitClosed(tx, context, { wallet, ausdMicro, spreadBps: terms.spreadBps }),
      limitAll(tx, context, ausdMicro),
      limitCover(tx, balance, terms.fiatMinor),
    ]
    const rivals = findRivals(tx, quoteId, authorization.from, authorization.nonce)
    const [known, ...refusals] = await Promise.all([rivals, ...limits])
    if (known.length > 0) return () => undefined
    const refused = refusals.find((one) => one !== undefined)
    if (refused) return refused
    // The user hears of it once it is accepted.
    unlockBeforeSync(tx)
    return insertCashout(tx, row)
  })
  if ('refused' in stored) return stored
  const made = stored()
  if (made) failpoint('payouts:row-stored')
  return ok(made ?? 'known')
}

/** Checks the limits of a wallet. */
async function limitWallet(
  tx: Tx,
  { givenBackMax, dayMicroMax }: Context,
  { wallet, ausdMicro, free, counted }: Holding & { wallet: `0x${string}`; ausdMicro: bigint },
): Promise<Refusal | undefined> {
  // guard: a wallet's cash-outs of a day are counted under its lock
  lockWallet(tx, wallet)
  const [takingMicro, today] = await Promise.all([sumTaking(tx, wallet, counted), sumToday(tx, wallet)])
  // guard: one balance serves one cash-out
  if (takingMicro + ausdMicro > BigInt(free)) return refuse('balance_too_low')
  if (today.pausedSince) return refuse('cashouts_paused', today.pausedSince)
  // If one cash-out was refused today, those in progress may be refused too.
  const refused = today.givenBack && today.givenBack + today.inProgress
  // guard: a wallet whose cash-outs were given back too often makes no more that day
  if (refused >= givenBackMax.ofWallet) return refuse('cashouts_refused_too_many')
  // guard: a wallet's cash-outs of a day have a limit
  return today.micro + ausdMicro > dayMicroMax ? refuse('day_limit_reached') : undefined
}

type Destination = { wallet: `0x${string}`; marks: readonly string[]; ausdMicro: bigint }

async function limitAccount(
  tx: Tx,
  { givenBackMax, dayMicroMax }: Context,
  { wallet, marks, ausdMicro }: Destination,
): Promise<Refusal | undefined> {
  // guard: a bank account's cash-outs are counted one after another
  lockAccount(tx, marks[0]!)
  const today = await sumDayTo(tx, marks)
  // guard: a cash-out to a refused bank account is refused
  if (today.isRefused) return refuse('bank_account_refused')
  // Refused cash-outs of other wallets to this account must not lock out its owner.
  if (today.givenBack >= givenBackMax.toAccount && !(await wasPaidTo(tx, wallet, marks)))
    return refuse('cashouts_refused_too_many')
  // guard: a bank account's cash-outs of a day are counted over all wallets
  if (today.micro + ausdMicro > dayMicroMax) return refuse('day_limit_reached')
  return undefined
}

/**
 * Checks the limits while the market is closed, which bound what a gap at its reopening costs. A spread below 0 says that the
 * quote is one of a closed market.
 */
async function limitClosed(
  tx: Tx,
  { closedMicroMax }: Context,
  { wallet, ausdMicro, spreadBps }: { wallet: `0x${string}`; ausdMicro: bigint; spreadBps: number },
): Promise<Refusal | undefined> {
  if (spreadBps >= 0) return undefined
  // guard: cash-outs while the market is closed are counted one after another
  lockClosedMarket(tx)
  const today = await sumClosedOfDay(tx, wallet)
  // guard: cash-outs while the market is closed have a limit of their own
  if (today.ofAll + ausdMicro > closedMicroMax.ofAll) return refuse('cashout_rate_unavailable')
  // guard: a wallet's cash-outs while the market is closed have a limit of their own
  if (today.ofWallet + ausdMicro > closedMicroMax.ofWallet) return refuse('cashout_rate_unavailable')
  return undefined
}

/** Checks the limit of all wallets together, which a pilot has. */
async function limitAll(tx: Tx, { allDayMicroMax }: Context, ausdMicro: bigint): Promise<Refusal | undefined> {
  if (allDayMicroMax === null) return undefined
  // guard: the cash-outs of all wallets of a day are counted one after another
  lockAllCashouts(tx)
  // guard: the cash-outs of all wallets of a day have a limit
  if ((await sumAllOfDay(tx)) + ausdMicro > allDayMicroMax) return refuse('day_limit_of_all_reached')
  return undefined
}

async function limitCover(tx: Tx, balance: Balance, fiatMinor: bigint): Promise<Refusal | undefined> {
  return (await mayReserve(tx, balance, fiatMinor)) ? undefined : refuse('payouts_short')
}

function rowOf(
  { safe }: Context,
  { wallet, quoteId, authorization, bank }: CashoutRequest,
  terms: CashoutTerms & { requestFingerprint: string; accountMark: string },
): NewCashout {
  const id = uuidFor('payout', quoteId)
  const sealed = safe.seal(bank, id)
  return {
    id,
    wallet,
    state: 'opening',
    rateMinorPerUsd: terms.rate,
    spreadBps: terms.spreadBps,
    ausdMicro: BigInt(authorization.value),
    fiatMinor: terms.fiatMinor,
    feeMinor: terms.feeMinor,
    quoteId,
    requestFingerprint: terms.requestFingerprint,
    requestId: requestId() ?? null,
    authorizer: authorization.from,
    authorizationNonce: authorization.nonce,
    authorization,
    signedByContract: terms.holding.byContract ?? false,
    channelCode: bank.channelCode,
    bankDetails: sealed.box,
    bankDetailsKeyId: sealed.keyId,
    accountMark: terms.accountMark,
    nextCheckAt: fromNow(openingMaxMs),
  }
}

async function resume(context: Context, row: Cashout): Promise<CreateAnswer> {
  const isOld = context.clock() - row.createdAt.getTime() > openingMaxMs
  // guard: a cash-out is accepted only within a minute after it was stored
  if (row.state === 'opening' && !isOld) return accept(context, row)
  if (row.state === 'opening' || row.state === 'expired') return refuse('quote_expired')
  return ok(answerOf(row))
}

/**
 * Takes the quote and accepts the cash-out; a retry can repeat it. A refused quote ends the cash-out; if
 * pricing does not answer, the cash-out waits for a retry.
 */
async function accept(context: Context, opened: Cashout): Promise<CreateAnswer> {
  const { ask, database, log } = context
  const { id, quoteId, requestFingerprint } = opened
  const asked = { quoteId, requestFingerprint, use: 'pay_out' } as const
  // guard: a cash-out takes its quote before it is accepted
  const taken = await askOr(ask, QuoteTake, asked, 'rate_unavailable', askMs)
  if ('refused' in taken) {
    if (taken.refused !== 'rate_unavailable') await expire(context, id)
    return taken
  }
  failpoint('payouts:quote-taken')
  const accepted = (await database.transaction((tx) => startTaking(tx, context, opened)))()
  if (!accepted) {
    // A concurrent request with the same body accepted the cash-out, or it expired.
    const row = await database.read((db) => findCashout(db, id))
    // The row was lost if Postgres crashed before it was on the disk; a retry stores it again.
    if (!row) return refuse('provider_unavailable')
    return row.state === 'expired' ? refuse('quote_expired') : ok(answerOf(row))
  }
  failpoint('payouts:take-ordered')
  context.poke()
  log.info({ payoutId: id, wallet: accepted.wallet, quoteId }, 'cash-out accepted')
  return ok(answerOf(accepted))
}

const answerOf = ({ id, ausdMicro, fiatMinor, feeMinor }: Cashout) => ({
  payoutId: id,
  ausd: ausdMicro.toString(),
  fiat: fiatMinor.toString(),
  ...(feeMinor > 0n && { fee: feeMinor.toString() }),
})

/** Normalizes a request: a retry with leading zeros or surrounding spaces is the same request. */
const normalized = (request: CashoutRequest): CashoutRequest => ({
  ...request,
  authorization: canonical(request.authorization),
  bank: { ...request.bank, accountHolderName: request.bank.accountHolderName.trim() },
})

function fingerprintOf({ wallet, quoteId, authorization: a, bank: b }: CashoutRequest): string {
  const parts = [
    wallet,
    quoteId,
    a.from,
    a.to,
    a.value,
    a.validAfter,
    a.validBefore,
    a.nonce,
    a.signature,
    b.channelCode,
    b.accountNumber,
    b.accountHolderName,
  ]
  return `cashout:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

/** Minimum validity of an authorization, in seconds: it must reach the chain in time. */
export const windowMinSeconds = 300n

function checkAuthorization(
  { wallet, authorization }: CashoutRequest,
  known: { treasury: string; nowSeconds: bigint },
): RefusalCode | undefined {
  // guard: a cash-out is requested by the signer of its transfer
  if (authorization.from !== wallet) return 'wallet_not_from'
  // guard: a cash-out is a transfer to the treasury
  if (authorization.to !== known.treasury) return 'to_not_treasury'
  if (BigInt(authorization.value) === 0n) return 'value_zero'
  if (BigInt(authorization.validAfter) >= known.nowSeconds) return 'valid_after_not_reached'
  if (BigInt(authorization.validBefore) < known.nowSeconds + windowMinSeconds) return 'valid_before_too_near'
  return undefined
}
