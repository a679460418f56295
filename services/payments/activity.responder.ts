import { answering } from '#shared/bus/serve'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import { PaymentsActivity } from '#shared/messages/payments'
import { ok } from '#shared/refusals'
import { activityEntry } from './activity'
import { listInFlight, listPayments } from './activity.store'

export const answerActivity = (database: Database, clock: Clock) =>
  answering(PaymentsActivity, async ({ wallet: asWritten, limit, before: cursor }) => {
    const wallet = asWritten.toLowerCase() as `0x${string}`
    const nowMs = clock()
    const before = cursor ? { id: cursor.id, createdAt: new Date(cursor.createdAt) } : null
    const [page, open] = await Promise.all([
      listPayments(database, { wallet, limit, before }),
      listInFlight(database, wallet, new Date(nowMs)),
    ])
    return ok({
      items: page.map((row) => activityEntry(row, nowMs)),
      inFlight: open.map((row) => activityEntry(row, nowMs)).filter(({ inFlight }) => inFlight),
    })
  })
