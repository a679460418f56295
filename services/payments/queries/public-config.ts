import { handler } from '#shared/bus/serve'
import { channelKinds } from '#shared/messages/activity'
import { PaymentsTerms } from '#shared/messages/payments'
import { ok } from '#shared/refusals'
import type { Context } from '../context'
import { isHeld } from '../decide'
import { currencyTerms, methods } from '../price'

/** Answers with the published limits, from the same tables and settings that enforce them. */
export const answerTerms = ({ checkoutTtlMs, topupLimits }: Context) =>
  handler(PaymentsTerms, async () =>
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
