import { type Ask, Faulted, Unavailable } from '#shared/bus/ask'
import { type Answering, answering } from '#shared/bus/serve'
import { type Clock, toUnixSeconds } from '#shared/clock'
import type { Database } from '#shared/db/open'
import { Overdue } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { uuidFor } from '#shared/ids'
import type { Log } from '#shared/log'
import { AuthorizationCheck } from '#shared/messages/chain'
import { CashoutCreate } from '#shared/messages/payouts'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import type { AnswerOf } from '#shared/messages/topic'
import { ok, type RefusalCode, refuse } from '#shared/refusals'
import type { DetailsSafe } from './bank-details.ts'
import { type Cashout, findRivals, insertCashout } from './cashout.store.ts'
import type { Channels } from './channels.ts'
import * as request from './request.ts'
import { orderTake, soon } from './status.store.ts'

export type CashoutDesk = {
  database: Database
  ask: Ask
  channels: Channels
  safe: DetailsSafe
  treasury: string
  accountLengths: request.AccountLengths
  sweepAfterMs: number
  clock: Clock
  log: Log
  /** Called after a commit, for the outbox. */
  poke: () => void
}
type Request = request.CashoutRequest
type CreateAnswer = AnswerOf<typeof CashoutCreate>

const askQuoteMs = 2_000
const askChainMs = 4_000

/** Checks everything, takes the quote, stores and answers. Nothing is taken before all checks pass. */
export const cashoutAnswer = (desk: CashoutDesk): Answering =>
  answering(CashoutCreate, async (raw) => {
    const asked = request.normalized(raw)
    const takenBy = request.fingerprintOf(asked)
    const known = await meetRivals(desk, asked, takenBy)
    if (known && !('refused' in known && known.refused === 'authorization_conflict')) return known
    const checked = await check(desk, asked, takenBy)
    // A request that is wrong in itself hears so before it hears that the wallet is frozen.
    if ('refused' in checked && checked.refused !== 'wallet_frozen') return checked
    if (known) return known // The authorization already serves another payout.
    if ('refused' in checked) return checked
    const { quoteId } = asked
    const taken = await desk.ask(QuoteTake, { quoteId, takenBy }, askQuoteMs)
    if ('refused' in taken) return taken
    return store(desk, asked, { ...checked, takenBy, rate: BigInt(taken.ok.rate) })
  })

/** What earlier rows of this quote or this authorization make of the request. */
async function meetRivals(
  { database }: CashoutDesk,
  { quoteId, authorization }: Request,
  takenBy: string,
): Promise<CreateAnswer | undefined> {
  const { from, nonce } = authorization
  const rivals = await database.read((db) => findRivals(db, quoteId, from, nonce))
  const same = rivals.find((row) => row.quoteId === quoteId)
  if (same) return same.takenBy === takenBy ? ok(answerOf(same)) : refuse('quote_used')
  return rivals.length > 0 ? refuse('authorization_conflict') : undefined
}

/** All rules in the order in which a caller meets them. */
async function check(
  desk: CashoutDesk,
  asked: Request,
  takenBy: string,
): Promise<{ fiatMinor: bigint } | { refused: RefusalCode }> {
  const nowSeconds = BigInt(toUnixSeconds(desk.clock()))
  const refused = request.checkAuthorization(asked, { treasury: desk.treasury, nowSeconds })
  if (refused) return refuse(refused)
  const quote = await desk.ask(QuoteFind, { quoteId: asked.quoteId, takenBy }, askQuoteMs)
  if ('refused' in quote) return quote
  const price = request.priceFloor(BigInt(asked.authorization.value), quote.ok)
  if ('refused' in price) return price
  const bank = await checkBank(desk, asked, price.fiatMinor)
  if (bank) return refuse(bank)
  const chain = await checkOnChain(desk, asked)
  return chain ? refuse(chain) : price
}

async function checkBank(desk: CashoutDesk, asked: Request, fiatMinor: bigint) {
  const found = await desk.channels.find(asked.bank.channelCode).then(
    (channel) => ({ channel }),
    () => undefined,
  )
  if (!found) return 'provider_unavailable' // Already logged where the list is fetched.
  return request.checkBank(asked, fiatMinor, found.channel, desk.accountLengths)
}

async function checkOnChain({ ask }: CashoutDesk, { authorization }: Request) {
  try {
    const answer = await ask(AuthorizationCheck, { authorization }, askChainMs)
    return 'refused' in answer ? answer.refused : undefined
  } catch (error) {
    const unclear = [Unavailable, Faulted, Overdue].some((kind) => error instanceof kind)
    if (unclear) return 'chain_unavailable'
    throw error
  }
}

async function store(
  desk: CashoutDesk,
  asked: Request,
  terms: { fiatMinor: bigint; takenBy: string; rate: bigint },
): Promise<CreateAnswer> {
  const { quoteId, authorization, bank } = asked
  const id = uuidFor('payout', quoteId)
  const sealed = desk.safe.seal(bank, id)
  const row = {
    id,
    wallet: asked.wallet as `0x${string}`,
    state: 'taking' as const,
    rateMinorPerUsd: terms.rate,
    ausdMicro: BigInt(authorization.value),
    fiatMinor: terms.fiatMinor,
    quoteId,
    takenBy: terms.takenBy,
    authorizer: authorization.from as `0x${string}`,
    authorizationNonce: authorization.nonce,
    authorization,
    channelCode: bank.channelCode,
    bankDetails: sealed.box,
    bankDetailsKeyId: sealed.keyId,
    lookAt: soon(desk),
  }
  const stored = await desk.database.transaction(async (tx) => {
    if (!(await insertCashout(tx, row))) return false
    await orderTake(tx, id, authorization)
    return true
  })
  // A request like this one, at the same moment, was first.
  if (!stored) return (await meetRivals(desk, asked, terms.takenBy)) ?? refuse('quote_used')
  failpoint('payouts:row-stored')
  desk.poke()
  desk.log.info({ payoutId: id, wallet: row.wallet, quoteId }, 'cash-out accepted')
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
