import type { ConfigOf, Field } from '#platform/config'
import { amount, durationMs, list, listOrNone, oneOf, text, url } from '#platform/config-fields'
import { deploymentIn, type Other, publicUrl } from '#platform/deployment'
import { commonFields, databaseFields } from '#platform/service'
import { homePair, namedDayStartMs } from '#shared/money/day'
import { feeField } from '#shared/money/fee'
import { type Pair, pairs } from '#shared/money/pair'
import { topupFeesField } from '#shared/money/topup-fee'
import { type Guards, widestSpreadBps } from './decide'
import { rateEnd, spreadEnd } from './quote-id'

export const sourceNames = ['fixed', 'frankfurter', 'bnm', 'open-er-api', 'indodax'] as const
/** Sources that are never quoted: the terms of one forbid it, the other trades a token. */
const checkOnly: readonly string[] = ['open-er-api', 'indodax']
export type SourceName = (typeof sourceNames)[number]

type FieldText = { about: string; fallback: string }

/** Reads one value per pair, such as `USD/IDR=…,USD/MYR=…`; pairs may be omitted. */
function perPair<T>(words: FieldText, read: (value: string) => T): Field<ReadonlyMap<Pair, T>> {
  const items = list(words)
  return {
    ...items,
    type: 'pair=value list',
    parse: (raw) => {
      const named = items.parse(raw).map((item) => {
        const [name = '', value = '', ...more] = item.split('=')
        const pair = pairs.find((known) => known === name)
        if (!pair) throw new Error(`names a pair other than ${pairs.join(', ')}`)
        if (more.length > 0) throw new Error('must name a pair and one value, e.g. USD/MYR=421')
        return [pair, read(value)] as const
      })
      const values = new Map(named)
      if (values.size < named.length) throw new Error('must not name a pair twice')
      return values
    },
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
/** Reads a range of rates. A rate with its spread must fit into a quote id, which limits the range. */
const range = (value: string): { min: bigint; max: bigint } => {
  const [min = '', max = ''] = value.split('-')
  const band = { min: positive(min), max: positive(max) }
  if (band.min > band.max) throw new Error('must give the lower rate first, e.g. USD/MYR=200-800')
  if (band.max >= rateEnd / 2n) throw new Error(`must stay below ${rateEnd / 2n}`)
  return band
}

const isReal = (other: Other): boolean => deploymentIn(other) !== 'local'

function statedSources(words: FieldText): Field<readonly SourceName[]> {
  const names = list(words)
  return {
    ...names,
    parse: (raw, other) => {
      const chosen = names.parse(raw).map((name) => oneOf(sourceNames, words).parse(name))
      if (checkOnly.includes(chosen[0]!))
        throw new Error(`may not begin with ${chosen[0]}, which is only a cross-check`)
      if (!isReal(other)) return chosen
      if (other?.('RATE_SOURCES') === undefined)
        throw new Error('must be set unless DEPLOYMENT=local, e.g. frankfurter,bnm')
      if (chosen.includes('fixed'))
        throw new Error('may not contain fixed unless DEPLOYMENT=local: its rates never change')
      return chosen
    },
  }
}

const factor = { name: 'RATE_DEVIATION_SPREAD_FACTOR', fallback: '2' }
const extra = { name: 'WEEKEND_EXTRA_BPS', fallback: '50' }
const useMax = { name: 'RATE_DEVIATION_USE_MAX_BPS', fallback: '100' }
const widenMax = { name: 'RATE_DEVIATION_WIDEN_MAX_BPS', fallback: '300' }

/**
 * Reads the settings that widen a spread. An invalid one takes its default here, because its own variable reports it.
 */
function widening(spreadsBps: ReadonlyMap<Pair, bigint>, other: Other) {
  const read = ({ name, fallback }: typeof factor) => {
    const said = other?.(name) || fallback
    return BigInt(/^[0-9]{1,12}$/.test(said) ? said : fallback)
  }
  return {
    spreadsBps,
    deviationSpreadFactor: read(factor),
    deviationUseMaxBps: read(useMax),
    deviationWidenMaxBps: read(widenMax),
    weekendExtraBps: read(extra),
  }
}

/** Reads the spreads, of which the widest must fit into a quote id. */
function statedSpreads(words: FieldText): Field<ReadonlyMap<Pair, bigint>> {
  const spreads = perPair(words, whole)
  return {
    ...spreads,
    parse: (raw, other) => {
      const stated = spreads.parse(raw)
      const wide = pairs.find((pair) => widestSpreadBps(pair, widening(stated, other)) >= spreadEnd)
      if (wide) throw new Error(`must keep ${wide} below ${spreadEnd} at its widest`)
      // With a larger spread on USD/IDR a round trip would pay: ringgit in at the smaller spread, rupiah out at the
      // larger one.
      if ((stated.get('USD/IDR') ?? 0n) > (stated.get('USD/MYR') ?? 0n))
        throw new Error('may not exceed on USD/IDR, which is paid out, that of USD/MYR')
      if (!isReal(other)) return stated
      if (other?.('SPREADS_BPS') === undefined)
        throw new Error(`must be set unless DEPLOYMENT=local, e.g. ${words.fallback}`)
      const silent = pairs.find((pair) => !stated.has(pair))
      if (silent) throw new Error(`must include ${silent} unless DEPLOYMENT=local; 0 is allowed`)
      return stated
    },
  }
}

/** Reads days of the calendar. A day that is written otherwise would match none, and so leave a market open. */
function daysOrNone(words: FieldText): Field<string[]> {
  const days = listOrNone(words)
  return {
    ...days,
    parse: (raw) => {
      const stated = days.parse(raw)
      const wrong = stated.find((day) => namedDayStartMs(homePair, day) === undefined)
      if (wrong !== undefined) throw new Error(`must list days of the calendar, e.g. 2026-12-25, not ${wrong}`)
      return stated
    },
  }
}

/** Reads the secrets, of which the first signs new quotes. Anyone who knows it can forge a quote. */
function secrets(words: { about: string }): Field<readonly [string, ...string[]]> {
  const items = list({ ...words, secret: true })
  return {
    ...items,
    parse: (raw) => {
      const [first = '', ...others] = items.parse(raw)
      if ([first, ...others].some((secret) => secret.length < 32))
        throw new Error('must contain secrets of at least 32 characters')
      return [first, ...others]
    },
  }
}

export const fields = {
  ...commonFields,
  ...databaseFields,
  RATE_SOURCES: statedSources({
    about:
      'sources in order of trust: fixed, frankfurter, bnm, open-er-api and indodax (cross-checks only); required unless DEPLOYMENT=local, then without fixed',
    fallback: 'fixed',
  }),
  FIXED_RATES: perPair(
    {
      about: 'rates of the source fixed, in minor units per US dollar',
      fallback: 'USD/IDR=16250,USD/MYR=421',
    },
    positive,
  ),
  QUOTE_TTL_MS: durationMs({
    about: 'lifetime of a quote; at most 5 minutes',
    fallback: '60000',
    maxMs: 300_000,
  }),
  QUOTE_SECRETS: secrets({
    about: 'secrets that sign quotes, 32 characters each; two during a rotation',
  }),
  RATE_POLL_MS: durationMs({ about: 'interval for polling rate sources', fallback: '900000' }),
  RATE_DEADLINE_MS: durationMs({ about: 'timeout of one request to a source', fallback: '5000' }),
  RATE_AGE_WEEKDAY_MAX_MS: durationMs({
    about: "maximum age of a rate, from the rate's own date",
    fallback: '129600000',
  }),
  RATE_AGE_WEEKEND_MAX_MS: durationMs({
    about: 'maximum age of a rate across a weekend or an unlisted holiday; beyond, only RATE_HOLIDAYS count',
    fallback: '345600000',
  }),
  RATE_HOLIDAYS: daysOrNone({
    about: 'holidays of both countries, on which a market without a rate of that day is closed, e.g. 2026-12-25',
    fallback: 'none',
  }),
  RATE_DEVIATION_USE_MAX_BPS: amount({
    least: 0n,
    most: 10_000n,
    about: 'maximum difference between sources without a wider spread',
    fallback: useMax.fallback,
  }),
  RATE_DEVIATION_WIDEN_MAX_BPS: amount({
    least: 0n,
    most: 10_000n,
    about: 'maximum difference between sources with a wider spread',
    fallback: widenMax.fallback,
  }),
  RATE_DEVIATION_SPREAD_FACTOR: amount({
    least: 1n,
    most: 100n,
    about: 'factor of the wider spread, which is widened by the difference of the sources at least',
    fallback: factor.fallback,
  }),
  RATE_JUMP_MAX_BPS: amount({
    least: 1n,
    most: 10_000n,
    about: 'maximum change from the last used rate without release by an operator',
    fallback: '400',
  }),
  RATE_BANDS: perPair(
    {
      about: 'accepted range of rates per pair, in minor units per US dollar',
      fallback: 'USD/IDR=8000-40000,USD/MYR=200-800',
    },
    range,
  ),
  SPREADS_BPS: statedSpreads({
    about:
      'spread in basis points: payers pay more, payees receive more; on USD/IDR at most that on ' +
      'USD/MYR; required unless DEPLOYMENT=local',
    fallback: 'USD/IDR=0,USD/MYR=0',
  }),
  WEEKEND_EXTRA_BPS: amount({
    least: 0n,
    most: 5_000n,
    about:
      'extra spread while the market is closed, from the first hour of a weekend or holiday; up to three times as much in a longer closure (basis points)',
    fallback: extra.fallback,
  }),
  CASHOUT_FEE: feeField({
    about:
      'fee of a cash-out that its payee pays: whole rupiah, and basis points of the payout before the fee; quotes of before a ' +
      'change end with it',
    fixedMax: 100_000n,
  }),
  TOPUP_FEES: topupFeesField({
    about:
      'fees of top-ups by currency and kind of channel (bank, qr, card, ewallet, counter, paylater, direct_debit; for MYR bank, ' +
      'with DuitNow, card, ewallet): a fixed amount in whole rupiah or sen, and basis points of the amount paid; none: no fees; ' +
      'quotes of before a change end with it',
  }),
  FRANKFURTER_URL: publicUrl(
    url({
      about: 'base URL of Frankfurter v2',
      fallback: 'https://api.frankfurter.dev',
    }),
  ),
  BNM_URL: publicUrl(
    url({
      about: 'base URL of the Bank Negara Malaysia API',
      fallback: 'https://api.bnm.gov.my',
    }),
  ),
  BNM_SESSION: text({
    about: 'rate session, Kuala Lumpur time: 0900, 1130 (counter rates), 1200 or 1700',
    fallback: '1200',
  }),
  OPEN_ER_API_URL: publicUrl(
    url({
      about: 'base URL of ExchangeRate-API',
      fallback: 'https://open.er-api.com',
    }),
  ),
  INDODAX_URL: publicUrl(
    url({
      about: 'base URL of Indodax, whose market of USDT in rupiah never closes',
      fallback: 'https://indodax.com',
    }),
  ),
}
export type Config = ConfigOf<typeof fields>

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
