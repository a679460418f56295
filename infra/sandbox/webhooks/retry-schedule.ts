import type { Webhook } from '../records'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

export const retrySchedule: Record<Webhook['source'], { timeoutMs: number; retriesMs: number[] }> = {
  payments: {
    timeoutMs: 30_000,
    retriesMs: [15 * minuteMs, 45 * minuteMs, 2 * hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs],
  },
  sumsub: { timeoutMs: 5_000, retriesMs: [5 * minuteMs, hourMs, 5 * hourMs, 18 * hourMs] },
  // These delays are from the older of two documents; the newer has eight attempts without delays.
  persona: { timeoutMs: 5_000, retriesMs: [3_000, 15_000, 65_000, 175_000] },
}
