import type { Sql } from 'postgres'
import { commitsWithin } from '#infra/operations/books/span'
import { type CommandResult, reading } from '#infra/operations/cli/command'
import { walletFault } from '#infra/operations/cli/person/wallet'
import { recordsCsv } from '#infra/operations/csv'
import { counted } from '#infra/operations/text'
import { type BookedPosting, withoutCorrections } from '#shared/ledger/corrections'
import { column, countryBy } from '#shared/money/countries'
import { namedDayStartMs, zonedText } from '#shared/money/day'
import type { Fiat } from '#shared/money/money'
import { plainAmount } from '#shared/money/text'

/**
 * Exchange of a user's local money and AUSD, as one posting of the journals has it. A refund or a returned cash-out is an
 * exchange of its own in the other direction, at the time at which it was booked. Amounts are in the smallest unit.
 */
export type Exchange = {
  readonly at: Date
  readonly kind: 'topup' | 'settlement' | 'cashout'
  readonly item: string
  /** Event of the posting, without the reason that an operator gave for it. */
  readonly event: string
  readonly currency: Fiat
  /** Local money, positive if the user paid it and negative if the user received it. */
  readonly fiat: bigint
  /** AUSD, positive if the user received it and negative if the user paid it. */
  readonly ausd: bigint
  /** Local money for one AUSD, with the spread. */
  readonly rate: bigint
  /**
   * Spread that the user paid, of a cash-out with its fee, in `feeCurrency`; negative if the user was given it, or got it back.
   */
  readonly fee: bigint
  readonly feeCurrency: 'AUSD' | Fiat
  /** Fee of a top-up, which is part of `fiat`; negative if the user got it back. */
  readonly topupFee: bigint
}

/** Columns of the file, whose order is fixed; new columns go last. Amounts are exact decimals in major units. */
export const exchangeColumns = [
  'year',
  'status',
  'time',
  'kind',
  'item',
  'event',
  'currency',
  'fiat_paid',
  'fiat_received',
  'ausd_paid',
  'ausd_received',
  'rate',
  'fee',
  'fee_currency',
  'topup_fee',
] as const

type ExchangeRow = Readonly<Record<(typeof exchangeColumns)[number], string>>

export type Year = { readonly year: string; readonly status: 'open' | 'final'; readonly exchanges: readonly Exchange[] }

export const exchanges = reading({
  does: "a user's exchanges of local money and AUSD in a year, for tax and CARF reporting",
  usage: 'persons exchanges <wallet> --year <yyyy> [--csv | --json]',
  takes: 1,
  options: { year: { type: 'string' }, csv: { type: 'boolean' } },
  faultIn: (words, { year }) => {
    if (year === undefined) return '--year is required, such as 2026'
    if (!/^20\d{2}$/.test(String(year))) return `--year ${year} is not a year, such as 2026`
    return walletFault(words)
  },
  read: async ({ words: [wallet = ''], options }, { sql }): Promise<CommandResult> => {
    const year = String(options.year)
    const found = await readExchanges(sql, wallet.toLowerCase(), year)
    if (!found) return { text: `${year} has not begun`, data: { wallet, year }, ok: false }
    const rows = exchangeRows(found)
    const text = options.csv ? recordsCsv(exchangeColumns, rows) : exchangesText(found, rows)
    return { text, data: { wallet, year: found.year, status: found.status, exchanges: rows }, ok: true }
  },
})

type Amounts = 'fiat' | 'ausd' | 'fee' | 'topupFee'
type Booked = Exchange & BookedPosting
/** `quoteRate` and `lateRate` are those of the row now, which may have been priced again since the posting. */
type Found = Omit<Booked, Amounts | 'rate'> &
  Record<Amounts | 'quoteRate', string> & { readonly lateRate: string | null }

/**
 * Reads the exchanges of a wallet from the journals, which are only appended to. A year is that of the country of the
 * money, and its file never changes once it is over. Returns undefined if the year has not begun in any country.
 */
export async function readExchanges(sql: Sql, wallet: string, year: string): Promise<Year | undefined> {
  const begin = (currency: Fiat, of: number) =>
    new Date(namedDayStartMs(countryBy('currency', currency).pair, `${of}-01-01`)!)
  const next = Number(year) + 1
  const spans = column('currency').map((currency) => ({
    currency,
    from: begin(currency, Number(year)),
    to: begin(currency, next),
  }))
  const isOfYear = spans
    .map(({ currency, from, to }) => sql`currency = ${currency} and at >= ${from} and at < ${to}`)
    .reduce((either, one) => sql`${either} or ${one}`)
  const begins = new Date(Math.min(...spans.map(({ from }) => from.getTime())))
  const ends = new Date(Math.max(...spans.map(({ to }) => to.getTime())))
  return await sql.begin('isolation level repeatable read', async (tx) => {
    const [clock] = await tx<{ begun: boolean; final: boolean }[]>`
      select ${begins} <= now() as begun, ${ends} <= now() - ${tx.unsafe(commitsWithin)} as final`
    if (!clock!.begun) return undefined
    const found = await tx<Found[]>`
      select * from (
        select min(j.booked_at) as at, p.kind, p.id as item, split_part(j.event, ':', 1) as event, p.currency,
          coalesce(-sum(j.amount) filter (where j.asset <> 'AUSD'), 0)::text as fiat,
          coalesce(sum(j.amount) filter (where j.asset = 'AUSD'), 0)::text as ausd,
          p.rate_minor_per_usd::text as "quoteRate", p.late_rate_minor_per_usd::text as "lateRate",
          coalesce(-sum(j.amount) filter (where j.account = 'spread'), 0)::text as fee,
          'AUSD' as "feeCurrency",
          coalesce(-sum(j.amount) filter (where j.account = 'fees_earned'), 0)::text as "topupFee", j.posting,
          min(j.reverses) as reverses
        from payments.payments p join payments.journal j
          on j.item = p.id and j.account in ('exchange', 'spread', 'fees_earned')
        where p.wallet = ${wallet} group by p.id, j.posting, j.event
        union all
        select min(j.booked_at), 'cashout', p.id, split_part(j.event, ':', 1), 'IDR',
          coalesce(-sum(j.amount) filter (where j.asset <> 'AUSD'), 0)::text,
          coalesce(sum(j.amount) filter (where j.asset = 'AUSD'), 0)::text,
          p.rate_minor_per_usd::text, null,
          coalesce(-sum(j.amount) filter (where j.account in ('spread', 'fees_earned')), 0)::text,
          'IDR', '0', j.posting, min(j.reverses)
        from payouts.payouts p join payouts.journal j
          on j.item = p.id and j.account in ('exchange', 'spread', 'fees_earned')
        where p.wallet = ${wallet} group by p.id, j.posting, j.event
      ) e where ${isOfYear} order by at, item, posting`
    const booked = found.map(({ fiat, ausd, quoteRate, lateRate, fee, topupFee, ...posting }) => {
      const amounts = { fiat: BigInt(fiat), ausd: BigInt(ausd), fee: BigInt(fee), topupFee: BigInt(topupFee) }
      const rate = rateOf(amounts, BigInt(quoteRate), lateRate === null ? null : BigInt(lateRate))
      return { ...posting, ...amounts, rate }
    })
    const exchanged = [...Map.groupBy(booked, ({ item }) => item).values()].flatMap((own) =>
      withoutCorrections(own, isOpposite),
    )
    const listed = exchanged.toSorted((left, right) => left.at.getTime() - right.at.getTime())
    return { year, status: clock!.final ? 'final' : 'open', exchanges: listed }
  })
}

/**
 * Returns the rate of a posting. Its payment may have been priced again since, also in a later year, so the rate is the one
 * that its own amounts have: that of the quote, or else that of late money, or else what they give.
 */
function rateOf(
  { fiat, ausd, topupFee }: Pick<Exchange, 'fiat' | 'ausd' | 'topupFee'>,
  quoteRate: bigint,
  lateRate: bigint | null,
): bigint {
  const boughtMinor = fiat - topupFee
  // A posting in one currency alone is one by which the payment was priced again.
  if (lateRate === null || boughtMinor === 0n || ausd === 0n) return lateRate ?? quoteRate
  const isOf = (rate: bigint) => {
    const apart = boughtMinor * 1_000_000n - ausd * rate
    // Rounding makes a difference of up to a smallest unit of local money and 10⁻⁶ AUSD.
    return (apart < 0n ? -apart : apart) <= 1_000_000n + rate
  }
  return [quoteRate, lateRate].find(isOf) ?? (boughtMinor * 1_000_000n) / ausd
}

const isOpposite = (one: Exchange, other: Exchange): boolean =>
  one.fiat === -other.fiat && one.ausd === -other.ausd && one.fee === -other.fee && one.topupFee === -other.topupFee

/** Returns the exchanges as they are printed for programs, with times in the zone of the country of the money. */
export const exchangeRows = ({ year, status, exchanges: listed }: Year): ExchangeRow[] =>
  listed.map(({ at, kind, item, event, currency, fiat, ausd, rate, fee, feeCurrency, topupFee }) => ({
    year,
    status,
    time: zonedText(countryBy('currency', currency).pair, at.getTime()),
    kind,
    item,
    event,
    currency,
    fiat_paid: plainAmount(aboveZero(fiat), currency),
    fiat_received: plainAmount(aboveZero(-fiat), currency),
    ausd_paid: plainAmount(aboveZero(-ausd), 'AUSD'),
    ausd_received: plainAmount(aboveZero(ausd), 'AUSD'),
    rate: plainAmount(rate, currency),
    fee: plainAmount(fee, feeCurrency),
    fee_currency: feeCurrency,
    topup_fee: plainAmount(topupFee, currency),
  }))

const isNone = (amount: string) => /^[0.]+$/.test(amount)
const aboveZero = (amount: bigint) => (amount > 0n ? amount : 0n)

function exchangesText({ year, status }: Year, rows: readonly ExchangeRow[]): string {
  const lines = rows.map((row) => {
    const [paid, received] = [`${row.fiat_paid} ${row.currency}`, `${row.ausd_received} AUSD`]
    const [gave, got] = [`${row.ausd_paid} AUSD`, `${row.fiat_received} ${row.currency}`]
    const exchanged = isNone(row.fiat_paid) ? `paid ${gave} for ${got}` : `paid ${paid} for ${received}`
    const charged = isNone(row.topup_fee.replace('-', '')) ? '' : ` and ${row.topup_fee} ${row.currency}`
    return `  ${row.time}  ${row.kind.padEnd(10)} ${exchanged}, ${row.rate} each, fee ${row.fee} ${row.fee_currency}${charged}  ${row.item} (${row.event})`
  })
  const open = status === 'open' ? ', and the year is still open' : ''
  return [`${counted(rows.length, 'exchange')} in ${year}${open}`, ...lines].join('\n')
}
