import type { RefundOrderRow, ResolutionRow } from '../../../services/payments/review/resolution.store'
import { rowsOf } from './rows'
import { nothing, type StandIn } from './table'

type Review = typeof import('../../../services/payments/review/resolution.store')

export const insertResolution: StandIn<Review['insertResolution']> = async (tx, given) => {
  const rows = rowsOf(tx)
  rows.resolutions.set(given.commandId, { ...given, decidedAt: rows.now() } as ResolutionRow)
  return nothing
}

export const lastResolution: StandIn<Review['lastResolution']> = async (db, paymentId) =>
  rowsOf(db)
    .resolutions.by('payment', paymentId)
    .toSorted((left, right) => right.decidedAt.getTime() - left.decidedAt.getTime())[0]

export const insertOrders: StandIn<Review['insertOrders']> = async (tx, given) => {
  const rows = rowsOf(tx)
  const now = rows.now()
  const fresh = { state: 'open', requests: 0, requestedAt: null, refundId: null, failureCode: null } as const
  const breaks = given.find(({ account, providerPaymentId, reference }, at) => {
    const isSame = (one: { reference: string; account: string; providerPaymentId: string }) =>
      one.reference === reference || (one.account === account && one.providerPaymentId === providerPaymentId)
    const isTaken = (one: RefundOrderRow) => one.reference === reference || (one.state !== 'failed' && isSame(one))
    return given.slice(0, at).some(isSame) || rows.refundOrders.find(isTaken) !== undefined
  })
  if (breaks) throw new Error(`${breaks.reference} breaks refund_orders_once`)
  for (const order of given)
    rows.refundOrders.set(order.reference, { ...fresh, createdAt: now, updatedAt: now, ...order } as RefundOrderRow)
  return nothing
}

export const countOrders: StandIn<Review['countOrders']> = async (db, paymentId) =>
  rowsOf(db).refundOrders.by('payment', paymentId).length

export const findOrders: StandIn<Review['findOrders']> = async (db, paymentId) =>
  rowsOf(db)
    .refundOrders.by('payment', paymentId)
    .filter(({ state }) => state !== 'failed')
    .sort((left, right) => (left.reference < right.reference ? -1 : 1))

export const countRequest: StandIn<Review['countRequest']> = async (db, { reference, requests }) => {
  const rows = rowsOf(db)
  const known = rows.refundOrders.get(reference)
  if (known?.state !== 'open' || known.requests !== requests) return false
  const now = rows.now()
  rows.refundOrders.update(reference, { requests: requests + 1, requestedAt: now, updatedAt: now })
  return true
}

export const uncountRequest: StandIn<Review['uncountRequest']> = async (db, { reference, requests }) => {
  const rows = rowsOf(db)
  if (rows.refundOrders.get(reference)?.requests === requests + 1)
    rows.refundOrders.update(reference, { requests, updatedAt: rows.now() })
  return nothing
}

export const findOrder: StandIn<Review['findOrder']> = async (db, reference) => rowsOf(db).refundOrders.get(reference)

export const giveUpOrder: StandIn<Review['giveUpOrder']> = async (tx, { reference, requests }) => {
  const rows = rowsOf(tx)
  const known = rows.refundOrders.get(reference)
  if (known?.state !== 'open' || known.requests !== requests || known.refundId !== null) return false
  rows.refundOrders.update(reference, { state: 'failed', failureCode: 'GIVEN_UP', updatedAt: rows.now() })
  return true
}

export const recordOrder: StandIn<Review['recordOrder']> = async (tx, reference, told) => {
  const rows = rowsOf(tx)
  const known = rows.refundOrders.get(reference)
  const mayChange = known?.state === 'open' || (known?.state === 'succeeded' && told.state === 'failed')
  return mayChange ? rows.refundOrders.update(reference, { ...told, updatedAt: rows.now() }) : undefined
}

export const findSeconds: StandIn<Review['findSeconds']> = async (db, paymentId) =>
  rowsOf(db)
    .anomalies.where((row) => row.kind === 'paid_twice' && row.paymentId === paymentId)
    .map(({ object, currency, amountMinor }) => ({
      providerPaymentId: object,
      currency: currency ?? null,
      minor: amountMinor ?? null,
    }))

export const findCountedElsewhere: StandIn<Review['findCountedElsewhere']> = async (tx, names, paymentId) => {
  const { returnedTransfers } = rowsOf(tx)
  const counted = names.flatMap((name) => returnedTransfers.get(name) ?? [])
  return counted.find((one) => one.paymentId !== paymentId)
}

export const countTransfers: StandIn<Review['countTransfers']> = async (tx, names, of) => {
  const rows = rowsOf(tx)
  for (const name of new Set(names))
    if (!rows.returnedTransfers.get(name)) rows.returnedTransfers.set(name, { name, ...of, countedAt: rows.now() })
  return nothing
}
