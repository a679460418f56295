import { answering } from '#shared/bus/serve'
import { channelKinds } from '#shared/messages/activity'
import { PaymentsTerms } from '#shared/messages/payments'
import { ok } from '#shared/refusals'
import type { Context } from './context'
import { isHeld } from './decide'
import { currencyTerms, methods } from './price'

/** What people are told before they pay: from the same tables and settings that refuse them. */
export const answerTerms = ({ checkoutTtlMs, topupLimits }: Context) =>
  answering(PaymentsTerms, async () =>
    ok({
      currencies: currencyTerms(),
      methods: [...methods],
      checkoutSeconds: Math.floor(checkoutTtlMs / 1_000),
      heldChannels: channelKinds.filter(isHeld),
      topups: {
        openMax: topupLimits.openMax,
        openAusdMax: topupLimits.openMicroMax.toString(),
        dayAusdMax: topupLimits.dayMicroMax.toString(),
      },
    }),
  )
