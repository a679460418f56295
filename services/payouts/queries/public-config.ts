import { type Handler, handler } from '#platform/bus/serve'
import { PayoutsLimit, PayoutsTerms } from '#shared/messages/payouts'
import { countryBy } from '#shared/money/countries'
import { dayEndMs, homePair } from '#shared/money/day'
import { dayLimit } from '#shared/money/day-limit'
import { ok, refuse } from '#shared/refusals'
import { checksPerDayMax } from '../account-check/check'
import { sumToday } from '../cashout.store'
import type { Context } from '../context'
import { type AccountLengths, accountDigits, payoutMaxMinor } from '../decide'
import type { PayoutChannel } from '../provider'
import { windowMinSeconds } from '../request/open'

/** Returns the published limits, from the same rules that enforce them. */
export const answerPublicConfig = (context: Context): Handler =>
  handler(PayoutsTerms, async () => {
    const { channels, accountLengths, dayMicroMax, allDayMicroMax, closedMicroMax, pilot } = context
    const banks = await channels.all().catch(() => undefined)
    if (!banks) return refuse('provider_unavailable') // The failure is logged where the list is fetched.
    const { pair, cashoutMinMinor } = countryBy('currency', 'IDR')
    return ok({
      pair,
      currency: 'IDR' as const,
      min: `${cashoutMinMinor}`,
      dayAusdMax: dayMicroMax.toString(),
      ...(allDayMicroMax !== null && { dayAusdMaxOfAll: allDayMicroMax.toString() }),
      ...(pilot !== null && { invitedOnly: true as const }),
      marketClosed: {
        dayAusdMax: closedMicroMax.ofWallet.toString(),
        dayAusdMaxOfAll: closedMicroMax.ofAll.toString(),
      },
      validBeforeSecondsMin: Number(windowMinSeconds),
      checksPerDayMax,
      banks: banks.map((bank) => termsOf(bank, accountLengths)).sort(byName),
    })
  })

/** Returns what is left of a wallet's daily limit, from the sum that enforces it. */
export const answerLimit = ({ database, clock, dayMicroMax }: Context): Handler =>
  handler(PayoutsLimit, async ({ wallet }) => {
    const { micro } = await database.read((db) => sumToday(db, wallet))
    return ok(dayLimit(dayMicroMax, micro, dayEndMs(homePair, clock())))
  })

function termsOf(bank: PayoutChannel, lengths: AccountLengths) {
  const [digitsMin, digitsMax] = accountDigits(bank, lengths)
  const isMore = bank.maxMinor > payoutMaxMinor
  const max = isMore ? payoutMaxMinor : bank.maxMinor
  return {
    code: bank.code,
    name: bank.name,
    min: `${bank.minMinor}`,
    max: `${max}`,
    increment: `${bank.incrementMinor}`,
    accountNumber: { digitsMin, digitsMax, pattern: `^[0-9]{${digitsMin},${digitsMax}}$` },
  }
}

const byName = (left: { name: string }, right: { name: string }) =>
  left.name < right.name ? -1 : Number(left.name > right.name)
