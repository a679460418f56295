import type { TimelineEntry } from '#infra/operations/timeline/entry'

/** Anomaly of a service; `says` has what its provider said of it, if that is recorded. */
type Anomaly = { readonly kind: string; readonly object: string; readonly at: Date; readonly says?: string }

export const anomalyEntries = (where: 'payments' | 'payouts', anomalies: readonly Anomaly[]): TimelineEntry[] =>
  anomalies.map(({ kind, object, at, says }) => ({
    at,
    where,
    what: 'anomaly',
    id: object,
    says: says === undefined ? kind : `${kind}: ${says}`,
    isOdd: true,
  }))
