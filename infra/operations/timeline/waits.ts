import { stateLimits } from '#infra/operations/alerts/state-limits'
import type { Limits } from '#platform/metrics/state-limits'

export type ToldWaits = {
  readonly items: readonly { readonly kind: string; readonly id: string; readonly state: string }[]
  readonly entries: readonly Entry[]
}

type Entry = {
  readonly at: Date | null
  readonly where: string
  readonly what: string
  readonly says: string
}

export type Wait = {
  readonly from: Date
  /** Null while the wait lasts. */
  readonly to: Date | null
  readonly ms: number
  readonly reason: string
}

export type TimelineLine<E extends Entry> = { readonly entry: E } | { readonly wait: Wait }

/** Shortest gap that counts as a wait, in ms. Shorter gaps are processing time. */
const shownFromMs = 400

/**
 * Returns the limits of an item's states. A state that awaits nothing is final, as `paid` is for a cash-out, but not
 * for a payment.
 */
const limitsOf = (kind: string): Limits<string> => {
  if (kind === 'topup' || kind === 'settlement') return stateLimits.payment.limits
  return stateLimits[kind === 'cashout' ? 'payout' : 'operation'].limits
}
const awaitedBy = ({ kind, state }: { kind: string; state: string }): string | undefined =>
  limitsOf(kind)[state]?.awaits

/** Reasons of a wait, by the event that ended it. */
const endedBy: ReadonlyMap<string, string> = new Map([
  ['provider delivery', "the payer or the provider's webhook"],
  ['payments paid', "the payer or the provider's webhook"],
  ['chain-relayer order', 'the order to reach the relayer'],
  ['chain-relayer lane', 'a lane'],
  ['chain-relayer state', 'the transaction to become final'],
  ['chain-relayer attempt', 'the transaction to be sent'],
  ['chain final', 'the transaction to become final'],
  ['payouts call', 'the AUSD to become final and the payout to be submitted'],
  ['payouts paid', 'the bank'],
  ['books booked', 'the books'],
])

/** Adds the waits between entries, and the one that still lasts. */
export function withWaits<E extends Entry>(
  { items, entries }: ToldWaits & { readonly entries: readonly E[] },
  now: Date,
): TimelineLine<E>[] {
  const lines: TimelineLine<E>[] = []
  let last: Date | undefined
  for (const entry of entries) {
    if (last && entry.at) {
      const wait = waitOf(last, entry.at, reasonOf(entry, items))
      if (wait) lines.push({ wait })
    }
    lines.push({ entry })
    last = entry.at ?? last
  }
  const reason = items.map(awaitedBy).find((one) => one !== undefined)
  if (!reason || !last) return lines
  const ms = Math.max(0, now.getTime() - last.getTime())
  const at = entries.findLastIndex((entry) => entry.at !== null)
  const after = lines.findIndex((line) => 'entry' in line && line.entry === entries[at]) + 1
  return lines.toSpliced(after, 0, { wait: { from: last, to: null, ms, reason } })
}

/** Returns the reason of a wait. A delivery for a cash-out is about the bank, not about a payer. */
function reasonOf({ where, what }: Entry, items: ToldWaits['items']): string {
  const isDelivery = where === 'provider' && what === 'delivery'
  if (isDelivery && items.some(({ kind }) => kind === 'cashout')) return "the bank and the provider's webhook"
  return endedBy.get(`${where} ${what}`) ?? where
}

function waitOf(from: Date, to: Date, reason: string): Wait | undefined {
  const ms = to.getTime() - from.getTime()
  return ms < shownFromMs ? undefined : { from, to, ms, reason }
}
