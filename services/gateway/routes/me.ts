import { LRUCache } from 'lru-cache'
import type { Static } from 'typebox'
import { steadyClock } from '#platform/clock'
import { joinReads } from '#platform/reads'
import { GetMe, PostCountry, PostVerification } from '#shared/api/account'
import type { RouteAnswer } from '#shared/api/route'
import { textIn } from '#shared/language/catalogue'
import type { Language } from '#shared/language/language'
import { type Zone, zoneOf } from '#shared/language/time'
import { ChainAccount } from '#shared/messages/chain'
import { PaymentsLimit } from '#shared/messages/payments'
import { PayoutsLimit } from '#shared/messages/payouts'
import { isInPilot } from '#shared/money/pilot'
import { openRateLimit } from '#shared/provider/rate-limit'
import type { Answer } from '#shared/refusals'
import type { Context } from '../context'
import { callerOf } from '../http/caller'
import { inTime } from '../http/deadline'
import { okOf, Refused, refusedAs } from '../http/failure'
import { languageFor } from '../http/language'
import { openLimiter, takeFrom } from '../http/limit'
import { serve } from '../http/serve'
import { type Wording, withSupport } from '../http/support'
import { verificationOf } from '../identity/verification'
import type { Access } from '../sign-in/access'
import type { User } from '../users/user.store'
import { dueText } from './due'

/** Time to wait for a limit, shorter than the response's deadline. A limit that comes later is null. */
const limitPatience = { deadlineMs: 1_200, quietMs: 80 }

const limitOr = async (asked: Promise<Answer<DayLimit>>): Promise<DayLimit | null> => {
  const answer = await asked.catch(() => undefined)
  return answer && 'ok' in answer ? answer.ok : null
}

export const meRoute = ({ ask, clock, config, users, orderRefill }: Context, access: Access) => {
  const read = async ({ wallet, language }: { wallet: `0x${string}`; language: Language }) => {
    const [found, user, topup, cashout] = await Promise.all([
      ask(ChainAccount, { wallet }),
      users.find(wallet),
      limitOr(ask(PaymentsLimit, { wallet }, limitPatience)),
      limitOr(ask(PayoutsLimit, { wallet }, limitPatience)),
    ])
    const account = okOf(found)
    void orderRefill(account)
    const limits = { topup, cashout }
    const createdAt = user?.createdAt ?? new Date(clock())
    const more = { user, createdAt, limits, language, contact: config.supportContact }
    return JSON.stringify(meOf(wallet, account, more))
  }
  // A new country must show at once, so a response is never older than its request.
  const me = joinReads(read, ({ wallet, language }) => `${wallet} ${language}`)
  return serve(access, GetMe, async ({ request, set, wallet }) => {
    const language = languageFor({ request, set })
    const body = await inTime(me({ wallet, language }), 'the user')
    set.headers['content-type'] = 'application/json'
    return body
  })
}

type Account = Static<typeof ChainAccount.answer>
type DayLimit = Static<typeof PaymentsLimit.answer>
type Me = RouteAnswer<typeof GetMe>

function meOf(
  wallet: `0x${string}`,
  account: Account,
  more: Wording & { user: User | undefined; createdAt: Date; limits: Me['limits'] },
): Me {
  const { user, createdAt, limits, language } = more
  const { collateral } = account
  const { pendingShares, pendingValue, pendingUntil } = collateral
  return {
    wallet,
    verified: account.verified,
    verification: verificationIn(more, verificationOf(user?.known ?? null, account.verified)),
    user: {
      country: user?.country ?? null,
      createdAt: createdAt.toISOString(),
    },
    collateral,
    pendingUntil,
    limit: account.limit,
    drawn: account.drawn,
    encumbered: account.encumbered,
    encumberedUntil: account.encumberedUntil,
    held: heldOf({ ...account, pendingShares, pendingValue, pendingUntil }, language),
    available: account.available,
    score: account.score,
    ratioBps: account.ratioBps,
    cycles: account.cycles,
    cycle: cycleOf(account, language, zoneOf(user?.country, language)),
    autoRepay: account.autoRepay ?? null,
    defaulted: account.defaulted,
    frozen: account.frozen,
    limits,
    balance: account.balance,
  }
}

const verificationIn = (wording: Wording, { text, ...rest }: ReturnType<typeof verificationOf>): Me['verification'] =>
  withSupport({ ...rest, sentence: textIn(wording.language, [text]) }, wording)

/** Returns the cycle as of the time of the block. */
const cycleOf = (
  { cycle, blockTime }: Pick<Account, 'cycle' | 'blockTime'>,
  language: Language,
  zone: Zone,
): Me['cycle'] => cycle && { ...cycle, sentence: textIn(language, [dueText(cycle, BigInt(blockTime))], { zone }) }

type Pending = { pendingShares: string; pendingValue: string; pendingUntil: string | null }

/** Returns amounts that do not add to the limit yet. */
function heldOf(account: Pending & Pick<Account, 'encumbered' | 'encumberedUntil'>, language: Language): Me['held'] {
  const { pendingShares, pendingValue, pendingUntil, encumbered, encumberedUntil } = account
  const reason = 'may_be_taken_back'
  const collateral = pendingUntil !== null && {
    what: 'collateral' as const,
    reason: reason as typeof reason,
    ausd: pendingValue,
    shares: pendingShares,
    until: pendingUntil,
    sentence: textIn(language, [{ code: 'held.collateral' }]),
  }
  const repayment = encumberedUntil !== null && {
    what: 'repayment' as const,
    reason: reason as typeof reason,
    ausd: encumbered,
    shares: null,
    until: encumberedUntil,
    sentence: textIn(language, [{ code: 'held.repayment' }]),
  }
  return [collateral, repayment].filter((one) => one !== false)
}

export const countryRoute = ({ users }: Context, access: Access) =>
  serve(access, PostCountry, async ({ wallet, body: { country } }) => {
    await inTime(users.setCountry(wallet, country), 'the users')
    return { country }
  })

/** Links allowed per wallet and day, because some providers charge for each. */
const linksPerDayMax = 5
const noLink = () => new Refused(503, [{ code: 'verification_unavailable' }], 5)

export const verificationRoute = (context: Context, access: Access) => {
  const { provider, verification, config, clock, copies, log, terms } = context
  const fresh = new LRUCache<string, string>({
    max: 10_000,
    ttl: provider.linkFreshMs,
    ttlResolution: 0,
    perf: { now: clock },
  })
  // The budget is half that of the rechecks, because a link can take two calls.
  const budget = openRateLimit(config.identityRechecksPerMinute / 2, steadyClock, {
    copies: () => copies.count(),
  })
  // Wallets cost nothing, so without a limit per address one user could take the whole budget.
  const addresses = openLimiter({
    perMinute: Math.max(1, config.identityRechecksPerMinute / 8),
    atOnce: Math.max(2, Math.floor(config.identityRechecksPerMinute / 48)),
    clock,
  })
  const linkFor = async ({ wallet, address }: { wallet: `0x${string}`; address: string }) => {
    const { isVerified, linksToday } = await inTime(verification.standing(wallet), 'the verdicts')
    if (isVerified) return { verified: true, url: null }
    // Only a verified wallet can borrow.
    // guard: during a pilot, only invited wallets are verified
    if (!isInPilot(config.pilotWallets, wallet)) throw refusedAs('not_in_pilot')
    if (!(await terms.isAccepted(wallet))) throw terms.refusal()
    const known = fresh.peek(wallet)
    if (known) return { verified: false, url: known }
    if (linksToday >= linksPerDayMax) throw refusedAs('verification_limit_reached')
    takeFrom(addresses, address)
    if (budget.reserve(provider.name, 0) === null) throw noLink()
    const { url, ref } = await provider.createLink(wallet).catch((error) => {
      log.warn({ err: error }, 'verification link not created')
      throw noLink()
    })
    // The link is recorded before it is returned, so that every link has its rechecks.
    await inTime(verification.recordLink(wallet, ref), 'the rechecks')
    fresh.set(wallet, url)
    return { verified: false, url }
  }
  const link = joinReads(linkFor, ({ wallet }) => wallet)
  const handle = ({ request, wallet }: { request: Request; wallet: `0x${string}` }) =>
    link({ wallet, address: callerOf(request).address })
  return serve(access, PostVerification, handle)
}
