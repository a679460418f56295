import { handler } from '#platform/bus/serve'
import { channelKinds } from '#shared/messages/activity'
import { PaymentsFreeze, PaymentsLimit, PaymentsTerms } from '#shared/messages/payments'
import { dayLimit } from '#shared/money/day-limit'
import { ok } from '#shared/refusals'
import { cancellationsPerDayMax } from '../checkout/cancel'
import { isOwing } from '../checkout/topup'
import type { Context } from '../context'
import { isHeld } from '../decide'
import { currencyTerms, methods } from '../price'
import { sumTopups } from '../treasury/sums.store'

/** Returns the published limits, from the same tables and settings that enforce them. */
export const answerPublicConfig = ({ checkoutTtlMs, topupLimits, allDayMicroMax, pilot }: Context) =>
  handler(PaymentsTerms, async () =>
    ok({
      currencies: currencyTerms(),
      methods: [...methods],
      checkoutSeconds: Math.floor(checkoutTtlMs / 1_000),
      cancellationsPerDayMax,
      heldChannels: channelKinds.filter(isHeld),
      topups: {
        openMax: topupLimits.openMax,
        openAusdMax: topupLimits.openMicroMax.toString(),
        dayAusdMax: topupLimits.dayMicroMax.toString(),
        dayCountMax: topupLimits.dayCountMax,
        ...(allDayMicroMax !== null && { dayAusdMaxOfAll: allDayMicroMax.toString() }),
        ...(pilot !== null && { invitedOnly: true as const }),
      },
    }),
  )

export const answerLimit = ({ database, clock, topupLimits }: Context) =>
  handler(PaymentsLimit, async ({ wallet }) => {
    const { dayMicro, resetsAtMs } = await database.read((db) => sumTopups(db, wallet, new Date(clock())))
    return ok(dayLimit(topupLimits.dayMicroMax, dayMicro, resetsAtMs))
  })

/** Returns whether a frozen wallet owes. */
export const answerFreeze = (context: Context) =>
  handler(PaymentsFreeze, async ({ wallet }) => ok({ isOwing: await isOwing(context, wallet) }))
