import { Elysia } from 'elysia'
import type { Ask } from '#platform/bus/ask'
import { isRecent } from '#platform/clock'
import { joinReads } from '#platform/reads'
import { GetConfig } from '#shared/api/config'
import type { RouteAnswer } from '#shared/api/route'
import { sessionSecondsMax } from '#shared/api/session'
import { lateCost } from '#shared/chain/credit-cost'
import { languages } from '#shared/language/language'
import { ChainTerms } from '#shared/messages/chain'
import { PaymentsTerms } from '#shared/messages/payments'
import { PayoutsTerms } from '#shared/messages/payouts'
import { PricingTerms } from '#shared/messages/pricing'
import { statementDaysMax, statementItemsMax } from '#shared/messages/statement'
import type { Config } from '../config'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { answerTagged, type Tagged, tagged } from '../http/etag'
import { okOf } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

/**
 * Time for which the configuration is cached, in ms. Settings change only when their owner restarts, and the
 * banks hardly ever.
 */
const keptMs = 60_000
const keptSeconds = keptMs / 1_000

export const configRoute = ({ ask, clock, config }: Context, access: Access) => {
  let kept: { readonly at: number; readonly answer: Tagged } | undefined
  const collected = joinReads(
    async () => {
      const answer = tagged(await collectConfig(ask, config))
      kept = { at: clock(), answer }
      return answer
    },
    () => '',
  )
  return new Elysia().use(access).get(
    GetConfig.path,
    async ({ request, set }) => {
      const isFresh = kept !== undefined && isRecent(kept.at, clock(), keptMs)
      const answer = isFresh ? kept!.answer : await inTime(collected(undefined), 'the owners')
      set.headers['cache-control'] = `public, max-age=${keptSeconds}`
      return answerTagged({ request, set }, answer)
    },
    {
      limited: 'public',
      ...operation({
        summary: 'Client configuration: contracts, limits, banks',
        description:
          'Contract addresses and signing domains, limits, banks, and validity periods. AUSD amounts ' +
          'are in 10⁻⁶, other currencies in their smallest unit. `currencies` has the minimum and ' +
          'maximum of one payment, `topups` the limits of a wallet for open top-ups and per day ' +
          'in the country of the payment. Payments through `hold.channels` are on hold for `hold.seconds` before they add to ' +
          'the limit. `requests` is the limit of a wallet; a `RateLimit` header of each response says how much ' +
          'of it is left. `chain.gasLimits` are for the calls that users send to the credit line ' +
          'themselves. It rarely changes: cache it for a minute and revalidate with the ETag.',
        tag: 'operations',
        ok: { description: 'The configuration.', schema: GetConfig.answer, example },
        tagged: true,
        errors: [429, 503],
      }),
    },
  )
}

/**
 * Collects the configuration. It fails if a part is missing, because an app would show an incomplete
 * configuration.
 */
async function collectConfig(ask: Ask, config: Config): Promise<RouteAnswer<typeof GetConfig>> {
  const [pricing, payments, payouts, chain] = await Promise.all([
    ask(PricingTerms, {}).then(okOf),
    ask(PaymentsTerms, {}).then(okOf),
    ask(PayoutsTerms, {}).then(okOf),
    ask(ChainTerms, {}).then(okOf),
  ])
  const { spreads, cashoutFee, topupFees } = pricing
  const prices = { ...(spreads && { spreads }), ...(cashoutFee && { cashoutFee }), ...(topupFees && { topupFees }) }
  const { chainId, ausd, creditLine, treasury, gasLimits, dripWei, cycle, initialRatioBps } = chain
  return {
    pairs: pricing.pairs,
    languages: [...languages],
    chain: { chainId, ausd, creditLine, treasury, gasLimits, ...(dripWei && { dripWei }) },
    credit: { cycle, initialRatioBps, cost: { ...cost, ...prices } },
    support: { contact: config.supportContact },
    ...(config.termsVersion !== 'none' && { terms: { version: config.termsVersion, url: config.termsUrl } }),
    session: { secondsMax: sessionSecondsMax },
    quote: { seconds: pricing.quoteSeconds, ...prices },
    checkout: {
      seconds: payments.checkoutSeconds,
      methods: payments.methods,
      cancellationsPerDayMax: payments.cancellationsPerDayMax,
    },
    hold: { seconds: chain.holdSeconds, channels: payments.heldChannels },
    currencies: payments.currencies,
    topups: payments.topups,
    statement: { daysMax: statementDaysMax, itemsMax: statementItemsMax },
    cashouts: payouts,
    sends: { validBeforeSecondsMin: chain.sendValidBeforeSecondsMin },
    requests: { perMinute: config.rateLimitSignedPerMinute },
  }
}

/** The contract charges neither interest nor fees. */
const cost: RouteAnswer<typeof GetConfig>['credit']['cost'] = {
  interestBps: '0',
  drawFee: '0',
  repaymentFee: '0',
  late: { score: lateCost.score, ratioBps: String(lateCost.ratioBps) },
  default: { seizes: 'collateral', score: 'all', borrowing: 'ends' },
}

const token = '0xa5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5'
const example: RouteAnswer<typeof GetConfig> = {
  pairs: ['USD/IDR', 'USD/MYR'],
  languages: [...languages],
  chain: {
    chainId: 10143,
    ausd: {
      address: token,
      decimals: 6,
      domain: { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: token },
    },
    creditLine: '0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1',
    treasury: '0x1111111111111111111111111111111111111111',
    gasLimits: {
      draw: '400000',
      repay: '225000',
      repayWithPermit: '305000',
      repayFromCollateral: '350000',
      withdrawCollateral: '325000',
    },
    dripWei: '250000000000000000',
  },
  support: { contact: 'help@example.org' },
  terms: { version: '2026-11-01', url: 'https://example.org/terms' },
  credit: {
    cost,
    cycle: { minSeconds: 86_400, minDebt: '1000000', termSeconds: 2_592_000, graceSeconds: 86_400 },
    initialRatioBps: '5000',
  },
  session: { secondsMax: sessionSecondsMax },
  quote: {
    seconds: 60,
    spreads: [
      { pair: 'USD/IDR', reason: 'market_open', spreadBpsMin: 0, spreadBpsMax: 0, cashouts: 'any' },
      { pair: 'USD/IDR', reason: 'market_closed', spreadBpsMin: 50, spreadBpsMax: 150, cashouts: 'capped' },
      { pair: 'USD/IDR', reason: 'no_cross_check', spreadBpsMin: 50, spreadBpsMax: 150, cashouts: 'none' },
      { pair: 'USD/IDR', reason: 'sources_differ', spreadBpsMin: 101, spreadBpsMax: 300, cashouts: 'none' },
    ],
  },
  checkout: { seconds: 900, methods: ['bank', 'card', 'qr'], cancellationsPerDayMax: 10 },
  hold: {
    seconds: 60,
    channels: ['card', 'ewallet', 'counter', 'paylater', 'direct_debit', 'unknown'],
  },
  currencies: [
    {
      currency: 'IDR',
      country: 'ID',
      pair: 'USD/IDR',
      topup: { min: '10000', max: '50000000000', cardMax: '200000000' },
      settlement: { min: '1', max: '50000000000' },
    },
    {
      currency: 'MYR',
      country: 'MY',
      pair: 'USD/MYR',
      topup: { min: '500', max: '100000000', cardMax: '500000' },
      settlement: { min: '100', max: '100000000' },
    },
  ],
  statement: { daysMax: statementDaysMax, itemsMax: statementItemsMax },
  topups: { openMax: 100, openAusdMax: '100000000000', dayAusdMax: '100000000000', dayCountMax: 20 },
  cashouts: {
    pair: 'USD/IDR',
    currency: 'IDR',
    min: '10000',
    dayAusdMax: '100000000000',
    marketClosed: { dayAusdMax: '500000000', dayAusdMaxOfAll: '20000000000' },
    validBeforeSecondsMin: 300,
    checksPerDayMax: 3,
    banks: [
      {
        code: 'ID_BCA',
        name: 'Bank Central Asia',
        min: '10000',
        max: '1999999999999',
        increment: '1',
        accountNumber: { digitsMin: 6, digitsMax: 20, pattern: '^[0-9]{6,20}$' },
      },
    ],
  },
  sends: { validBeforeSecondsMin: 60 },
  requests: { perMinute: 240 },
}
