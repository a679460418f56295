import { describe, expect, test } from 'bun:test'
import type { Pair } from '#shared/money/pair'
import { decideRate, type Guards, type RateCase, spreadCurve } from './decide'
import { localE8From, type Sighting } from './rate'

const hourMs = 3_600_000
const guards: Guards = {
  ageWeekdayMaxMs: 36 * hourMs,
  ageWeekendMaxMs: 96 * hourMs,
  deviationUseMaxBps: 100n,
  deviationWidenMaxBps: 300n,
  deviationSpreadFactor: 2n,
  jumpMaxBps: 400n,
  weekendExtraBps: 50n,
  bands: new Map([
    ['USD/IDR', { min: 8_000n, max: 40_000n }],
    ['USD/MYR', { min: 200n, max: 800n }],
  ]),
  spreadsBps: new Map([['USD/MYR', 20n]]),
  holidays: new Set(['2026-12-24']),
}
const wednesday = Date.parse('2026-11-18T12:00:00Z')
const seen = (source: string, rate: string, asOf = '2026-11-18', pair: Pair = 'USD/MYR'): Sighting => ({
  source,
  pair,
  localE8PerUsd: localE8From(rate)!,
  asOfMs: Date.parse(asOf),
})
const decide = (sightings: Sighting[], more: Partial<RateCase> = {}, nowMs = wednesday) =>
  decideRate(
    {
      pair: sightings[0]?.pair ?? 'USD/MYR',
      sightings,
      checks: [],
      trades: [],
      sourcesWanted: sightings.length,
      accepted: null,
      releasedDay: undefined,
      ...more,
    },
    guards,
    nowMs,
  )

describe('a rate is used', () => {
  test('from the first source in the order of trust, with the spread of its pair', () => {
    expect(decide([seen('a', '4.00'), seen('b', '4.01')])).toMatchObject({
      state: 'market_open',
      payIn: { minorPerUsd: 401n, spreadBps: 20n },
      reference: { source: 'a' },
      warnings: [],
    })
  })
  test('from the next source if the first is out of date, without a cross-check', () => {
    expect(decide([seen('a', '4.00', '2026-11-10'), seen('b', '4.00')])).toMatchObject({
      state: 'no_cross_check',
      reference: { source: 'b' },
      payIn: { spreadBps: 70n },
      warnings: ['no cross-check'],
    })
  })
  test.each([
    ['4.04', 100n, 20n, 0],
    ['4.0404', 101n, 121n, 1],
    ['4.12', 300n, 320n, 1],
  ])('next to a source with %s (%p bps), with a spread of %p bps', (rate, bps, spread, warned) => {
    const verdict = decide([seen('a', '4.00'), seen('b', rate)])
    expect(verdict).toMatchObject({ deviationBps: bps, payIn: { spreadBps: spread } })
    expect('warnings' in verdict && verdict.warnings.length).toBe(warned)
  })
})

describe('security: a rate that serves both directions', () => {
  const rupiah = (source: string, rate: string, asOf = '2026-11-18') => seen(source, rate, asOf, 'USD/IDR')

  test('is used without a spread while nothing is in doubt', () => {
    expect(decide([rupiah('a', '16250'), rupiah('b', '16412')])).toMatchObject({
      payIn: { minorPerUsd: 16_250n, spreadBps: 0n },
      payOut: { minorPerUsd: 16_250n, spreadBps: 0n },
      warnings: [],
    })
  })

  test.each([
    ['sources differ by more than the limit', [rupiah('a', '16250'), rupiah('b', '16413')], wednesday, 101n],
    ['no second source is fresh', [rupiah('a', '16250'), rupiah('b', '16250', '2026-11-10')], wednesday, 50n],
    [
      'it is that of the last weekday',
      [rupiah('a', '16250', '2026-11-20'), rupiah('b', '16250', '2026-11-20')],
      Date.parse('2026-11-22T12:00:00Z'),
      50n,
    ],
    [
      'it is that of the day before a holiday',
      [rupiah('a', '16250', '2026-12-23')],
      Date.parse('2026-12-25T08:00:00Z'),
      50n,
    ],
    [
      'it is that of the last weekday, and sources differed then',
      [rupiah('a', '16250', '2026-11-20'), rupiah('b', '16413', '2026-11-20')],
      Date.parse('2026-11-22T12:00:00Z'),
      101n,
    ],
  ])('prices only money that comes in, at a wider spread, if %s', (_, sightings, nowMs, spreadBps) => {
    expect(decide(sightings, {}, nowMs)).toMatchObject({ payOut: null, payIn: { spreadBps } })
  })
  test('is refused in both directions if sources differ by more than any spread covers', () => {
    expect(decide([rupiah('a', '16250'), rupiah('b', '16738')])).toHaveProperty('unavailable')
  })
})

describe('while the market of the rupiah is closed', () => {
  const sunday = Date.parse('2026-11-22T12:00:00Z')
  const friday = [seen('a', '16250', '2026-11-20', 'USD/IDR'), seen('b', '16250', '2026-11-20', 'USD/IDR')]
  const traded = (rate: string, asOf = '2026-11-22T11:59:00Z') => seen('market', rate, asOf, 'USD/IDR')

  test.each([
    // guard: while the market is closed, a cash-out is priced below the reference
    ['at the same price', '16250', 50n, 16_332n, 16_168n],
    ['at a price within the usual spread', '16300', 50n, 16_332n, 16_168n],
    ['at a higher price', '16380', 80n, 16_380n, 16_120n],
    ['at a lower price', '16120', 80n, 16_380n, 16_120n],
  ])('payers pay more and payees get less if a market that never closes trades %s', (_, price, bps, payIn, payOut) => {
    expect(decide(friday, { trades: [traded(price)], sourcesWanted: 3 }, sunday)).toMatchObject({
      state: 'market_closed',
      payIn: { minorPerUsd: payIn, spreadBps: bps },
      payOut: { minorPerUsd: payOut, spreadBps: -bps },
      warnings: [],
    })
  })

  test('a spread of 0 is no spread of cash-outs, which has to be below 0', () => {
    const free = { ...guards, weekendExtraBps: 0n }
    const known = {
      pair: 'USD/IDR',
      sightings: friday,
      checks: [],
      trades: [traded('16250')],
      sourcesWanted: 3,
    } as const
    const verdict = decideRate({ ...known, accepted: null, releasedDay: undefined }, free, sunday)
    expect(verdict).toMatchObject({ payIn: { spreadBps: 0n }, payOut: { spreadBps: -1n } })
  })

  test.each([
    // guard: while the market is closed, a rate that no open market confirms pays nothing out
    ['has no price', []],
    ['has a price of three hours ago', [traded('16250', '2026-11-22T09:00:00Z')]],
    ['has a price of another currency', [traded('9')]],
  ])('security: there is no cash-out if the market that never closes %s', (_, trades) => {
    expect(decide(friday, { trades, sourcesWanted: 3 }, sunday)).toMatchObject({
      state: 'market_closed',
      payIn: { spreadBps: 50n },
      payOut: null,
    })
  })

  test('security: there is no cash-out, and payers pay more, if it trades more than 1 % away', () => {
    expect(decide(friday, { trades: [traded('16413')], sourcesWanted: 3 }, sunday)).toMatchObject({
      state: 'sources_differ',
      payIn: { spreadBps: 101n },
      payOut: null,
    })
  })

  // guard: a doubtful rate pays nothing out
  test('security: there is no cash-out if it agrees and another source differs', () => {
    const differing = [seen('b', '16450', '2026-11-22', 'USD/IDR')]
    expect(decide(friday.slice(0, 1), { trades: [traded('16250')], checks: differing }, sunday)).toMatchObject({
      state: 'sources_differ',
      payIn: { spreadBps: 124n },
      payOut: null,
    })
  })

  test('there is no rate if it trades more than 3 % away', () => {
    expect(decide(friday, { trades: [traded('16738')], sourcesWanted: 3 }, sunday)).toHaveProperty('unavailable')
  })
})

describe('the market of a pair is closed from the first day without rates after the day of the rate, in its country', () => {
  const rate = (day: string) => seen('a', '16250', day, 'USD/IDR')
  const at = (
    day: string,
    time: string,
    { reference, check = day }: { reference: string; check?: string },
  ): unknown => {
    const now = Date.parse(`${day}T${time}:00+07:00`)
    const trades = [{ ...rate(day), source: 'market', asOfMs: now - 60_000 }]
    const known = { pair: 'USD/IDR', sightings: [rate(reference)], checks: [rate(check)], trades } as const
    const verdict = decideRate(
      { ...known, sourcesWanted: 3, accepted: null, releasedDay: undefined },
      { ...guards, holidays: new Set(['2026-11-25']) },
      now,
    )
    return 'state' in verdict ? [verdict.state, verdict.payIn.spreadBps, verdict.payOut?.spreadBps] : verdict
  }
  const open = ['market_open', 0n, 0n]
  const closed = ['market_closed', 50n, -50n]

  // guard: the market is closed from the first day without rates after the day of the rate
  test.each([
    ['Friday at 17:00', '2026-11-20', '17:00', '2026-11-20', open],
    ['Friday before midnight', '2026-11-20', '23:59', '2026-11-20', open],
    ['Saturday at 00:30, with the rate of Friday', '2026-11-21', '00:30', '2026-11-20', closed],
    ['Saturday at noon, with the rate of Friday', '2026-11-21', '12:00', '2026-11-20', closed],
    ['Sunday, with the rate of Friday', '2026-11-22', '12:00', '2026-11-20', closed],
    ['Monday at 08:00, before the rate of the day', '2026-11-23', '08:00', '2026-11-20', closed],
    ['Monday at 11:00, with the rate of the day', '2026-11-23', '11:00', '2026-11-23', open],
    ['Tuesday at 08:00, before the rate of the day', '2026-11-24', '08:00', '2026-11-23', open],
    ['a listed holiday, with the rate of the day before', '2026-11-25', '00:30', '2026-11-24', closed],
    ['the morning after a holiday, before the rate of the day', '2026-11-26', '08:00', '2026-11-24', closed],
    ['a holiday of the other country, with the rate of the day', '2026-11-25', '11:00', '2026-11-25', open],
  ])('on %s', (_, day, time, reference, state) => {
    expect(at(day, time, { reference })).toEqual(state)
  })

  test('security: and with a dead second source there is no cash-out, at any hour', () => {
    const trades: Sighting[] = []
    for (const [day, time] of [
      ['2026-11-20', '17:00'],
      ['2026-11-21', '00:30'],
      ['2026-11-22', '12:00'],
      ['2026-11-23', '08:00'],
    ] as const) {
      const now = Date.parse(`${day}T${time}:00+07:00`)
      const dead = { trades, checks: [rate('2026-11-10')], sourcesWanted: 3 }
      expect(decide([rate('2026-11-20')], dead, now)).toMatchObject({ state: 'no_cross_check', payOut: null })
    }
  })

  test('of the ringgit too, by the calendar of Malaysia', () => {
    const on = (time: string) =>
      decide([seen('a', '4.00', '2026-11-20')], {}, Date.parse(`2026-11-21T${time}:00+08:00`))
    expect(on('00:00')).toMatchObject({ state: 'market_closed', payIn: { spreadBps: 70n } })
    expect(decide([seen('a', '4.00', '2026-11-20')], {}, Date.parse('2026-11-20T23:59:00+08:00'))).toMatchObject({
      state: 'market_open',
    })
  })

  test('but not that of a rate that the operator configured, which has no market', () => {
    const configured = { ...rate('2026-11-21'), source: 'fixed', asOfMs: Date.parse('2026-11-20T23:59:00+07:00') }
    expect(decide([configured], {}, Date.parse('2026-11-21T00:05:00+07:00'))).toMatchObject({ state: 'market_open' })
  })
})

describe('while the market of the rupiah is open', () => {
  const today = [seen('a', '16250', '2026-11-18', 'USD/IDR'), seen('b', '16250', '2026-11-18', 'USD/IDR')]
  const trades = [seen('market', '17000', '2026-11-18T11:59:00Z', 'USD/IDR')]

  test('two sources that agree outvote a third one, so that it cannot stop money that comes in', () => {
    expect(decide(today, { trades, sourcesWanted: 3 })).toMatchObject({
      state: 'sources_differ',
      payIn: { spreadBps: 300n },
      payOut: null,
    })
  })
  test('one source and one that differs by more than 3 % give no rate', () => {
    expect(decide([today[0]!], { trades, sourcesWanted: 3 })).toHaveProperty('unavailable')
  })
})

test('the published spreads are those of the decision', () => {
  const rowsOf = (pair: Pair) =>
    spreadCurve(pair, guards).map((row) => [row.state, row.spreadBpsMin, row.spreadBpsMax, row.cashouts])
  expect(rowsOf('USD/IDR')).toEqual([
    ['market_open', 0n, 0n, 'any'],
    ['market_closed', 50n, 150n, 'capped'],
    ['no_cross_check', 50n, 150n, 'none'],
    ['sources_differ', 101n, 300n, 'none'],
  ])
  expect(rowsOf('USD/MYR')).toEqual([
    ['market_open', 20n, 20n, 'none'],
    ['market_closed', 70n, 170n, 'none'],
    ['no_cross_check', 70n, 170n, 'none'],
    ['sources_differ', 121n, 320n, 'none'],
  ])
})

describe('over Lebaran, with the joint holidays of 2025 listed', () => {
  const closed = ['2025-03-28', '2025-03-31', '2025-04-01', '2025-04-02', '2025-04-03', '2025-04-04', '2025-04-07']
  const holidays = new Set(closed)
  const verdictAt = (now: string, listed: ReadonlySet<string>) =>
    decideRate(
      {
        pair: 'USD/IDR',
        sightings: [seen('a', '16588', '2025-03-27', 'USD/IDR')],
        checks: [],
        trades: [],
        sourcesWanted: 1,
        accepted: null,
        releasedDay: undefined,
      },
      { ...guards, holidays: listed },
      Date.parse(now),
    )
  test('there is a price for money that comes in at every hour, and none for cash-outs', () => {
    for (let at = Date.parse('2025-03-28T13:00:00Z'); at < Date.parse('2025-04-08T03:00:00Z'); at += hourMs)
      expect(verdictAt(new Date(at).toISOString(), holidays)).toMatchObject({ payOut: null, state: 'market_closed' })
  })
  test.each([
    ['2025-03-27T16:00:00Z', 0n, true],
    ['2025-03-28T11:00:00Z', 50n, false],
    ['2025-03-30T12:00:00Z', 50n, false],
    ['2025-03-31T12:00:00Z', 100n, false],
    ['2025-04-07T12:00:00Z', 150n, false],
  ])('at %s the spread is %p, and cash-outs get the rate: %p', (now, spreadBps, paysOut) => {
    expect(verdictAt(now, holidays)).toMatchObject({ payIn: { spreadBps }, payOut: paysOut ? {} : null })
  })
  test('a rate that is not renewed after the holidays is too old', () => {
    expect(verdictAt('2025-04-10T00:00:00Z', holidays)).toHaveProperty('unavailable')
  })
  test('without listed holidays it is too old after four days', () => {
    expect(verdictAt('2025-04-01T12:00:00Z', new Set())).toHaveProperty('unavailable')
  })
})

describe('a cross-check', () => {
  test('is compared', () => {
    const checks = [seen('b', '4.12')]
    expect(decide([seen('a', '4.00')], { checks })).toMatchObject({ deviationBps: 300n })
  })
  test('prevents a rate that differs too much', () => {
    const checks = [seen('b', '4.1204')]
    expect(decide([seen('a', '4.00')], { checks })).toHaveProperty('unavailable')
  })
  test.each([
    ['alone', []],
    ['next to one that is out of date', [seen('a', '4.00', '2026-11-10')]],
  ])('is never quoted: %s', (_, sightings) => {
    expect(decide(sightings, { checks: [seen('b', '4.00')] })).toHaveProperty('unavailable')
  })
})

describe('there is no rate', () => {
  test.each([
    ['without any source', []],
    // guard: a rate is within its band
    ['outside the band', [seen('a', '9.00')]],
    ['that is 1', [seen('a', '1')]],
    ['that is inverted', [seen('a', '0.2370')]],
    ['dated in the future', [seen('a', '4.00', '2026-11-20')]],
    // guard: a rate is close to those of other sources
    ['more than 3% from another source', [seen('a', '4.00'), seen('b', '4.1204')]],
  ])('%s', (_, sightings) => {
    expect(decide(sightings)).toHaveProperty('unavailable')
  })
})

test('a rate of exactly 1 is refused, however wide its band', () => {
  const bands = new Map([['USD/MYR', { min: 1n, max: 1_000_000n }]] as const)
  const known = {
    pair: 'USD/MYR' as const,
    sourcesWanted: 1,
    accepted: null,
    releasedDay: undefined,
    checks: [],
    trades: [],
  }
  const verdict = (rate: string) =>
    decideRate({ ...known, sightings: [seen('a', rate)] }, { ...guards, bands }, wednesday)
  expect(verdict('1')).toHaveProperty('unavailable')
  expect(verdict('1.0001')).toHaveProperty('payIn')
})

describe('the age of a rate is counted from its own date', () => {
  // guard: a rate is not too old
  test.each([
    ['2026-11-18', '2026-11-19T12:00:00Z', 20n], // The rate is 36 h old, on weekdays.
    ['2026-11-18', '2026-11-19T12:00:01Z', undefined],
    ['2026-11-20', '2026-11-20T15:00:00Z', 20n], // The rate is Friday's, on Friday.
    ['2026-11-20', '2026-11-21T12:00:00Z', 70n], // The rate is Friday's, on Saturday.
    ['2026-11-20', '2026-11-22T23:00:00Z', 70n], // The rate is Friday's on Sunday, which costs half a percent more.
    ['2026-11-20', '2026-11-24T00:00:00Z', 70n], // The rate is 96 h old, over a weekend.
    ['2026-11-20', '2026-11-24T00:00:01Z', undefined],
    ['2026-11-19T20:00:00Z', '2026-11-21T09:00:00Z', 70n], // The rate is of an evening, and Saturday has begun.
    ['2026-12-23', '2026-12-25T08:00:00Z', 70n], // The rate is from before a holiday.
    ['2026-12-22', '2026-12-23T20:00:00Z', undefined],
  ])('of %s at %s: spread %p', (asOf, now, spreadBps) => {
    const verdict = decide([seen('a', '4.00', asOf)], {}, Date.parse(now))
    if (spreadBps === undefined) expect(verdict).toHaveProperty('unavailable')
    else expect(verdict).toMatchObject({ payIn: { spreadBps } })
  })
})

describe('a jump of more than 4% from the last used rate', () => {
  const accepted = seen('a', '4.00', '2026-11-17')
  // guard: a rate jump needs manual review
  test.each([
    ['4.16', undefined, true],
    ['4.1601', undefined, false],
    ['3.8399', undefined, false],
    ['4.20', '2026-11-18', true],
    ['4.20', '2026-11-17', false],
  ])('to %s with a release for %s: used is %p', (rate, releasedDay, used) => {
    const verdict = decide([seen('a', rate)], { accepted, releasedDay })
    expect('payIn' in verdict).toBe(used)
  })
  test('needs no release if an operator configured the rate', () => {
    expect(decide([seen('fixed', '5.00')], { accepted })).toHaveProperty('payIn')
  })
})

describe('a rate, while nobody knows which one was last used,', () => {
  // guard: no rate is used before the last used one is known
  test('is not used, because a jump would not be noticed', () => {
    expect(decide([seen('a', '4.00')], { accepted: 'unread' })).toEqual({
      unavailable: 'the last used rate cannot be read from the rates bucket',
    })
  })
  test('is used if there was none before', () => {
    expect(decide([seen('a', '4.00')], { accepted: null })).toHaveProperty('payIn')
  })
  test('is used if an operator configured it, or released its day', () => {
    expect(decide([seen('fixed', '5.00')], { accepted: 'unread' })).toHaveProperty('payIn')
    expect(decide([seen('a', '5.00')], { accepted: 'unread', releasedDay: '2026-11-18' })).toHaveProperty('payIn')
  })
})
