import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ReminderKind, reminderKinds } from '#shared/messages/credit'
import { type CycleDates, decideReminder, isDay, nextDay, zonesOf } from './reminder'

const day = 86_400
const hour = 3_600
/** Noon in Jakarta, in unix seconds. */
const dueAt = Date.UTC(2026, 11, 24, 5) / 1_000
const debt: CycleDates = { openedAt: dueAt - 30 * day, dueAt, defaultsAt: dueAt + day }
const jakarta = ['Asia/Jakarta']
const none: ReadonlySet<ReminderKind> = new Set()

describe('the decision about a reminder', () => {
  test.each<[string, number, ReminderKind | null, number | null]>([
    ['a week before', dueAt - 7 * day, null, dueAt - 3 * day],
    ['three days before', dueAt - 3 * day, 'three_days_before', dueAt - day],
    ['a second before the last day', dueAt - day - 1, 'three_days_before', dueAt - day],
    ['one day before', dueAt - day, 'one_day_before', dueAt],
    ['on the due date', dueAt, 'due', dueAt + day],
    ['at the end of the grace period', dueAt + day, 'grace_ends', null],
    ['long after it', dueAt + 8 * day + 1, null, null],
  ])('%s', (_, now, send, lookAt) => {
    expect(decideReminder(debt, now, none, jakarta)).toEqual({ send, lookAt })
  })

  test('leaves out a kind that was sent', () => {
    const sent = new Set<ReminderKind>(['due'])
    expect(decideReminder(debt, dueAt, sent, jakarta)).toEqual({ send: null, lookAt: dueAt + day })
  })

  test('leaves out the kinds whose time came before the debt existed', () => {
    const short = { ...debt, openedAt: dueAt - 2 * day }
    const decision = decideReminder(short, short.openedAt, none, jakarta)
    expect(decision).toEqual({ send: null, lookAt: dueAt - day })
  })

  test('waits for 08:00 at night, and for the next kind if that is earlier', () => {
    const atMidnight = { ...debt, dueAt: dueAt + 12 * hour, defaultsAt: dueAt + 36 * hour }
    const night = atMidnight.dueAt - day
    const morning = night + 8 * hour
    expect(decideReminder(atMidnight, night, none, jakarta)).toEqual({
      send: null,
      lookAt: morning,
    })
    expect(decideReminder(atMidnight, morning, none, jakarta).send).toBe('one_day_before')
    const brief = { ...atMidnight, defaultsAt: atMidnight.dueAt + hour }
    const { lookAt } = decideReminder(brief, brief.dueAt, none, jakarta)
    expect(lookAt).toBe(brief.defaultsAt)
  })
})

const countries = ['ID', 'MY', 'SG', 'US', 'RU', 'AQ', 'GB', 'NP', 'XX', null]

const worlds = fc.record({
  openedAt: fc.integer({ min: 1_790_000_000, max: 1_800_000_000 }),
  termDays: fc.integer({ min: 1, max: 40 }),
  graceDays: fc.integer({ min: 1, max: 10 }),
  steps: fc.array(
    fc.record({
      seconds: fc.integer({ min: 1, max: 3 * day }),
      pause: fc.option(fc.integer({ min: 1, max: 5 * day }), { freq: 8 }),
      country: fc.constantFrom(...countries),
    }),
    { minLength: 1, maxLength: 60 },
  ),
})

test('each kind is sent at most once, in order, by day, and only while it is true', () => {
  fc.assert(
    fc.property(worlds, ({ openedAt, termDays, graceDays, steps }) => {
      const sent = new Set<ReminderKind>()
      let [now, due] = [openedAt, openedAt + termDays * day]
      for (const { seconds, pause, country } of steps) {
        now += seconds
        due += pause ?? 0
        const at: CycleDates = { openedAt, dueAt: due, defaultsAt: due + graceDays * day }
        const zones = zonesOf(country)
        const { send, lookAt } = decideReminder(at, now, sent, zones)
        if (lookAt !== null) expect(lookAt).toBeGreaterThan(now)
        if (!send) continue
        expect(sent.has(send)).toBe(false)
        expect(isDay(zones, now)).toBe(true)
        const starts = { three_days_before: due - 3 * day, one_day_before: due - day, due }
        const from = { ...starts, grace_ends: at.defaultsAt }
        expect(now).toBeGreaterThanOrEqual(from[send])
        const later = reminderKinds.slice(reminderKinds.indexOf(send) + 1)
        for (const kind of later) expect(now).toBeLessThan(from[kind])
        sent.add(send)
      }
    }),
  )
})

test('checking a debt only when the last decision planned it sends the same kinds as checking every quarter of an hour', () => {
  const run = (openedAt: number, due: number, country: string | null, isPatient: boolean) => {
    const sent = new Map<ReminderKind, number>()
    const at: CycleDates = { openedAt, dueAt: due, defaultsAt: due + day }
    let next = openedAt
    for (let now = openedAt; now < due + 9 * day; now += 900) {
      if (isPatient && now < next) continue
      const decision = decideReminder(at, now, new Set(sent.keys()), zonesOf(country))
      if (decision.send) sent.set(decision.send, now)
      next = decision.lookAt ?? Number.POSITIVE_INFINITY
    }
    return [...sent]
  }
  fc.assert(
    fc.property(
      fc.integer({ min: 1_790_000_000, max: 1_800_000_000 }),
      fc.constantFrom(...countries),
      (at, country) => {
        const often = run(at, at + 5 * day, country, false)
        expect(run(at, at + 5 * day, country, true)).toEqual(often)
        expect(often.map(([kind]) => kind)).toEqual([...reminderKinds])
      },
    ),
    { numRuns: 15 },
  )
})

describe('the day of a country', () => {
  const at = (text: string) => Date.parse(text) / 1_000
  test.each([
    ['MY', '2026-12-23T23:59:59Z', '2026-12-24T00:00:00Z'],
    ['MY', '2026-12-24T12:00:00Z', '2026-12-25T00:00:00Z'],
    ['ID', '2026-12-24T00:59:59Z', '2026-12-24T01:00:00Z'],
    ['ID', '2026-12-24T11:00:00Z', '2026-12-25T01:00:00Z'],
    [null, '2026-12-24T11:00:00Z', '2026-12-25T01:00:00Z'],
  ])('in %p begins, after %s, at %s', (country, from, to) => {
    expect(nextDay(zonesOf(country), at(from))).toBe(at(to))
    expect(isDay(zonesOf(country), at(from))).toBe(false)
  })

  test('comes within a day in every country that a user can set', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const codes = letters.flatMap((first) => letters.map((second) => first + second))
    for (const code of codes) {
      const opens = nextDay(zonesOf(code), dueAt)
      expect([code, isDay(zonesOf(code), opens), opens - dueAt < day]).toEqual([code, true, true])
    }
  })
})
