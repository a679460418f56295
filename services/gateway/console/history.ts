/** What happened to an item, as whoever reads the rows and the bus tells it. */
export type Told = {
  readonly items: readonly { readonly kind: string; readonly id: string; readonly state: string }[]
  readonly entries: readonly Entry[]
}

type Entry = {
  readonly at: Date | null
  readonly where: string
  readonly what: string
  readonly says: string
}

/** A time in which nothing happened, and what was waited for. */
export type Wait = {
  readonly from: Date
  /** Null: it still lasts. */
  readonly to: Date | null
  readonly ms: number
  readonly reason: string
}

export type Line<E extends Entry> = { readonly entry: E } | { readonly wait: Wait }

/** Shorter is the work itself. */
const shownFromMs = 400

/** What a state waits for; one that is not here waits for nothing more. */
const awaited: ReadonlyMap<string, string> = new Map([
  ['opening', 'the provider to open the checkout'],
  ['awaiting_payment', 'the payer'],
  ['paid', 'the chain, until the credit is final'],
  ['held', 'the hold to end: until then the money may be taken back'],
  ['revoking', 'the chain, until it is taken back'],
  ['review', 'a person'],
  ['refunding', 'the provider to give the money back'],
  ['taking', 'the chain, until the AUSD is in the treasury'],
  ['taken', 'the provider to be asked'],
  ['paying', 'the bank'],
  ['returning', 'the chain, until the AUSD is back'],
  ['waiting', 'a lane'],
  ['assigned', 'the chain, until it is final'],
])
/** Of a cash-out, `paid` is the end. */
const isOver = (kind: string, state: string) => kind === 'cashout' && state === 'paid'

/** What a pause was for, by what ended it. */
const endedBy: ReadonlyMap<string, string> = new Map([
  ['provider delivery', 'the payer, or the provider to tell'],
  ['payments paid', 'the payer, or the provider to tell'],
  ['chain-relayer order', 'the order to reach the relayer'],
  ['chain-relayer lane', 'a lane'],
  ['chain-relayer state', 'the chain to make it final'],
  ['chain-relayer attempt', 'the transaction to be sent'],
  ['chain final', 'the chain to make it final'],
  ['payouts call', 'the AUSD to be final, then the provider to be asked'],
  ['payouts paid', 'the bank'],
  ['books booked', 'the books'],
])

/** The entries with the waits between them, and the one that still lasts. */
export function withWaits<E extends Entry>(
  { items, entries }: Told & { readonly entries: readonly E[] },
  now: Date,
): Line<E>[] {
  const lines: Line<E>[] = []
  let last: Date | undefined
  for (const entry of entries) {
    if (last && entry.at) {
      const wait = waitOf(last, entry.at, reasonOf(entry, items))
      if (wait) lines.push({ wait })
    }
    lines.push({ entry })
    last = entry.at ?? last
  }
  const open = items.find(({ kind, state }) => awaited.has(state) && !isOver(kind, state))
  if (!open || !last) return lines
  const ms = Math.max(0, now.getTime() - last.getTime())
  const reason = awaited.get(open.state)!
  const at = entries.findLastIndex((entry) => entry.at !== null)
  const after = lines.findIndex((line) => 'entry' in line && line.entry === entries[at]) + 1
  return lines.toSpliced(after, 0, { wait: { from: last, to: null, ms, reason } })
}

/** The provider tells of a payer, or of a bank that was to be paid. */
function reasonOf({ where, what }: Entry, items: Told['items']): string {
  const isDelivery = where === 'provider' && what === 'delivery'
  if (isDelivery && items.some(({ kind }) => kind === 'cashout'))
    return 'the bank, and the provider to tell'
  return endedBy.get(`${where} ${what}`) ?? where
}

function waitOf(from: Date, to: Date, reason: string): Wait | undefined {
  const ms = to.getTime() - from.getTime()
  return ms < shownFromMs ? undefined : { from, to, ms, reason }
}
