import type { ConfigOf, Field } from '#shared/config'
import { amount, durationMs, list, listOrNone, oneOf, text, url } from '#shared/config-fields'
import { type Pair, pairs } from '#shared/money/pair'
import { commonFields, databaseFields } from '#shared/service'
import { type Guards, widestSpreadBps } from './decide'
import { rateEnd, spreadEnd } from './quote-id'

export const sourceNames = ['fixed', 'frankfurter', 'bnm', 'open-er-api'] as const
export type SourceName = (typeof sourceNames)[number]

type Words = { about: string; fallback: string }

/** `USD/IDR=…,USD/MYR=…`; a pair may be left out. */
function perPair<T>(words: Words, read: (value: string) => T): Field<ReadonlyMap<Pair, T>> {
  const items = list(words)
  return {
    ...items,
    type: 'pair=value list',
    parse: (raw) =>
      new Map(
        items.parse(raw).map((item) => {
          const [name = '', value = ''] = item.split('=')
          const pair = pairs.find((known) => known === name)
          if (!pair) throw new Error(`names a pair other than ${pairs.join(', ')}`)
          return [pair, read(value)] as const
        }),
      ),
  }
}

const whole = (value: string): bigint => {
  if (!/^[0-9]{1,12}$/.test(value)) throw new Error('must give whole numbers, e.g. USD/MYR=421')
  return BigInt(value)
}
const positive = (value: string): bigint => {
  if (whole(value) === 0n) throw new Error('must give numbers above 0')
  return whole(value)
}
/** A band ends so low that a rate with its spread has room in the id of a quote. */
const range = (value: string): { min: bigint; max: bigint } => {
  const [min = '', max = ''] = value.split('-')
  const band = { min: positive(min), max: positive(max) }
  if (band.max >= rateEnd / 2n) throw new Error(`must stay below ${rateEnd / 2n}`)
  return band
}

function sources(words: Words): Field<readonly SourceName[]> {
  const names = list(words)
  return {
    ...names,
    parse: (raw) => {
      const chosen = names.parse(raw).map((name) => oneOf(sourceNames, words).parse(name))
      if (chosen[0] === 'open-er-api')
        throw new Error('may not begin with open-er-api: its terms allow a second opinion only')
      return chosen
    },
  }
}

/** What another variable says. */
type Other = ((name: string) => string | undefined) | undefined

/** Whether people's money comes through: only the sandbox's is made up. */
const isReal = (other: Other): boolean => other?.('PROVIDER_KIND') !== 'sandbox'

/** Where money is real, the rate is chosen by somebody: no default, and none made up here. */
function statedSources(words: Words): Field<readonly SourceName[]> {
  const names = sources(words)
  return {
    ...names,
    parse: (raw, other) => {
      const chosen = names.parse(raw)
      if (!isReal(other)) return chosen
      if (other?.('RATE_SOURCES') === undefined)
        throw new Error('must be stated with a real payment provider, e.g. frankfurter,bnm')
      if (chosen.includes('fixed'))
        throw new Error('may not name fixed with a real payment provider: its rates never move')
      return chosen
    },
  }
}

const factor = { name: 'RATE_DEVIATION_SPREAD_FACTOR', fallback: '2' }
const extra = { name: 'WEEKEND_EXTRA_BPS', fallback: '50' }

/** What widens a spread; of a number that is none its own variable says so. */
function widening(spreadsBps: ReadonlyMap<Pair, bigint>, other: Other) {
  const read = ({ name, fallback }: typeof factor) => {
    const said = other?.(name) || fallback
    return BigInt(/^[0-9]{1,12}$/.test(said) ? said : fallback)
  }
  return { spreadsBps, deviationSpreadFactor: read(factor), weekendExtraBps: read(extra) }
}

/**
 * Where money is real, what is earned on it is stated, pair by pair. The widest a spread gets has
 * room in the id of a quote.
 */
function statedSpreads(words: Words): Field<ReadonlyMap<Pair, bigint>> {
  const spreads = perPair(words, whole)
  return {
    ...spreads,
    parse: (raw, other) => {
      const stated = spreads.parse(raw)
      const wide = pairs.find((pair) => widestSpreadBps(pair, widening(stated, other)) >= spreadEnd)
      if (wide) throw new Error(`must leave ${wide} below ${spreadEnd} at its widest`)
      if (!isReal(other)) return stated
      if (other?.('SPREADS_BPS') === undefined)
        throw new Error(`must be stated with a real payment provider, e.g. ${words.fallback}`)
      const silent = pairs.find((pair) => !stated.has(pair))
      if (silent) throw new Error(`must state ${silent} with a real payment provider; 0 will do`)
      return stated
    },
  }
}

/** The first proves new quotes. Whoever knows it makes quotes at any rate. */
function secrets(words: { about: string }): Field<readonly [string, ...string[]]> {
  const items = list({ ...words, secret: true })
  return {
    ...items,
    parse: (raw) => {
      const [first = '', ...others] = items.parse(raw)
      if ([first, ...others].some((secret) => secret.length < 32))
        throw new Error('must name secrets of 32 characters or more')
      return [first, ...others]
    },
  }
}

/** Nobody is promised a rate for longer. */
const quoteTtlMaxMs = 300_000

function quoteTtl(words: Words): Field<number> {
  const duration = durationMs(words)
  return {
    ...duration,
    parse: (raw) => {
      const ttlMs = duration.parse(raw)
      if (ttlMs > quoteTtlMaxMs) throw new Error(`must be ${quoteTtlMaxMs} at most`)
      return ttlMs
    },
  }
}

/** The environment of pricing. Rates and bands are in smallest local units per US dollar. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  PROVIDER_KIND: oneOf(['xendit', 'sandbox'], {
    about: 'only beside sandbox may RATE_SOURCES and SPREADS_BPS be left out, or rates be fixed',
    fallback: 'xendit',
  }),
  RATE_SOURCES: statedSources({
    about:
      `where rates come from, in the order of trust: ${sourceNames.join(', ')}; ` +
      'with a real provider stated, and not fixed; open-er-api is a second opinion, never quoted',
    fallback: 'fixed',
  }),
  FIXED_RATES: perPair(
    { about: 'rates of the source fixed', fallback: 'USD/IDR=16250,USD/MYR=421' },
    positive,
  ),
  QUOTE_TTL_MS: quoteTtl({
    about: 'for how long a quote locks its rate; 5 minutes at most',
    fallback: '60000',
  }),
  QUOTE_SECRETS: secrets({
    about: 'what proves a quote to be ours, 32 characters or more; two during a rotation',
  }),
  RATE_POLL_MS: durationMs({ about: 'how often sources are asked', fallback: '900000' }),
  RATE_DEADLINE_MS: durationMs({ about: 'for one answer of a source', fallback: '5000' }),
  RATE_AGE_WEEKDAY_MAX_MS: durationMs({
    about: "age of a rate at most, from the rate's own date",
    fallback: '129600000',
  }),
  RATE_AGE_WEEKEND_MAX_MS: durationMs({
    about: 'the same where a weekend or holiday lies between',
    fallback: '345600000',
  }),
  RATE_HOLIDAYS: listOrNone({
    about: 'days without rates besides weekends, e.g. 2026-12-25',
    fallback: 'none',
  }),
  RATE_DEVIATION_USE_MAX_BPS: amount({
    about: 'sources this far apart are used as they are',
    fallback: '100',
  }),
  RATE_DEVIATION_WIDEN_MAX_BPS: amount({
    about: 'up to here with a wider spread, beyond it no quotes',
    fallback: '300',
  }),
  RATE_DEVIATION_SPREAD_FACTOR: amount({ about: 'how much wider', fallback: factor.fallback }),
  RATE_JUMP_MAX_BPS: amount({
    about: 'change against the last rate used that needs no release by an operator',
    fallback: '400',
  }),
  RATE_BANDS: perPair(
    { about: 'rates outside are refused', fallback: 'USD/IDR=8000-40000,USD/MYR=200-800' },
    range,
  ),
  SPREADS_BPS: statedSpreads({
    about:
      'added to the rate, in basis points: a dollar costs a payer more, and brings a payee more; ' +
      'with a real provider stated for each pair, 0 will do',
    fallback: 'USD/IDR=0,USD/MYR=0',
  }),
  WEEKEND_EXTRA_BPS: amount({
    about: 'added to USD/MYR when its rate is older than a weekday allows',
    fallback: extra.fallback,
  }),
  FRANKFURTER_URL: url({ about: 'Frankfurter v2', fallback: 'https://api.frankfurter.dev' }),
  FRANKFURTER_PROVIDERS: perPair(
    { about: 'the central bank asked per pair', fallback: 'USD/IDR=BI,USD/MYR=BNM' },
    (value) => value,
  ),
  BNM_URL: url({ about: 'Bank Negara Malaysia', fallback: 'https://api.bnm.gov.my' }),
  BNM_SESSION: text({
    about: '0900, 1130, 1200 or 1700, Kuala Lumpur; 1130 is of counters',
    fallback: '1200',
  }),
  OPEN_ER_API_URL: url({ about: 'ExchangeRate-API', fallback: 'https://open.er-api.com' }),
}
export type Config = ConfigOf<typeof fields>

/** The limits that the configuration sets. */
export const guardsFrom = (config: Config): Guards => ({
  ageWeekdayMaxMs: config.rateAgeWeekdayMaxMs,
  ageWeekendMaxMs: config.rateAgeWeekendMaxMs,
  deviationUseMaxBps: config.rateDeviationUseMaxBps,
  deviationWidenMaxBps: config.rateDeviationWidenMaxBps,
  deviationSpreadFactor: config.rateDeviationSpreadFactor,
  jumpMaxBps: config.rateJumpMaxBps,
  weekendExtraBps: config.weekendExtraBps,
  bands: config.rateBands,
  spreadsBps: config.spreadsBps,
  holidays: new Set(config.rateHolidays),
})
