import type { Ask } from '#platform/bus/ask'
import { isRecent } from '#platform/clock'
import { joinReads } from '#platform/reads'
import { GetConfig } from '#shared/api/config'
import type { RouteAnswer } from '#shared/api/route'
import { sessionSecondsMax } from '#shared/api/session'
import { creditCost } from '#shared/chain/credit-cost'
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
import { serve } from '../http/serve'
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
  return serve(access, GetConfig, async ({ request, set }) => {
    const isFresh = kept !== undefined && isRecent(kept.at, clock(), keptMs)
    const answer = isFresh ? kept!.answer : await inTime(collected(undefined), 'the owners')
    set.headers['cache-control'] = `public, max-age=${keptSeconds}`
    return answerTagged({ request, set }, answer)
  })
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
    credit: { cycle, initialRatioBps, cost: { ...creditCost, ...prices } },
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
