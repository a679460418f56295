import type { Static } from 'typebox'
import { type Answering, answering } from '#shared/bus/serve'
import type { Database } from '#shared/db/open'
import type { ActivityEntry } from '#shared/messages/activity'
import { PayoutsActivity } from '#shared/messages/payouts'
import { ok } from '#shared/refusals'
import { findInFlight, findPage } from './activity.store.ts'
import type { Cashout } from './cashout.store.ts'
import { inFlightStates } from './cashout.ts'
import { reasonTexts } from './reason.ts'

export const activityAnswer = (database: Database): Answering =>
  answering(PayoutsActivity, async (asked) => {
    const [items, inFlight] = await Promise.all([
      findPage(database, asked),
      findInFlight(database, asked.wallet),
    ])
    return ok({ items: items.map(entryOf), inFlight: inFlight.map(entryOf) })
  })

function entryOf(cashout: Cashout): Static<typeof ActivityEntry> {
  const txHash = cashout.returnTxHash ?? cashout.takeTxHash
  return {
    id: cashout.id,
    kind: 'cashout',
    status: cashout.state,
    inFlight: inFlightStates.includes(cashout.state),
    ...(cashout.reason && { reason: reasonTexts[cashout.reason] }),
    pair: 'USD/IDR',
    fiat: cashout.fiatMinor.toString(),
    ausd: cashout.ausdMicro.toString(),
    channel: cashout.channelCode,
    ...(txHash && { txHash }),
    createdAt: cashout.createdAt.toISOString(),
    updatedAt: cashout.updatedAt.toISOString(),
  }
}
