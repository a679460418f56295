import { type ReminderKind, reminderKinds } from '#shared/messages/credit'

/** An open cycle: its opening, its due date, and the end of its grace period, in unix seconds of the chain. */
export type CycleDates = {
  readonly openedAt: number
  readonly dueAt: number
  readonly defaultsAt: number
}

/** The reminder to send now, if any, and when to look again; null if none will follow. */
export type ReminderDecision = {
  readonly send: ReminderKind | null
  readonly lookAt: number | null
}

const daySeconds = 86_400
/** First and last moment of reminders: seconds before the due date, and after the grace period. */
export const aheadSeconds = 3 * daySeconds
export const behindSeconds = 7 * daySeconds

/**
 * Decides which reminder of a cycle to send. Each kind has a time from which it is right until the next
 * kind is, so one that was delayed by a night, a pause or an outage is sent only while it is still true.
 * A kind whose time came before the debt existed is left out.
 */
export function decideReminder(
  debt: CycleDates,
  now: number,
  sent: ReadonlySet<ReminderKind>,
  zones: readonly string[],
): ReminderDecision {
  const { openedAt, dueAt, defaultsAt } = debt
  const starts = [dueAt - aheadSeconds, dueAt - daySeconds, dueAt, defaultsAt]
  const spans = reminderKinds
    .map((kind, at) => ({
      ...{ kind, from: starts[at]! },
      until: starts[at + 1] ?? defaultsAt + behindSeconds,
    }))
    .filter(({ kind, from, until }) => !sent.has(kind) && from >= openedAt && until > now)
  const current = spans.find(({ from }) => from <= now)
  const next = spans.find(({ from }) => from > now)?.from ?? null
  if (!current) return { send: null, lookAt: next }
  const opensAt = nextDay(zones, now)
  if (opensAt === now) return { send: current.kind, lookAt: next }
  return { send: null, lookAt: Math.min(opensAt, current.until) }
}

/** Hours of the day at which reminders are sent: from 08:00 until 20:00. */
const [firstHour, endHour] = [8, 20]
/** Time zones differ by multiples of this. */
const stepSeconds = 900

/** Returns whether it is day in all the time zones, at a time in unix seconds. */
export const isDay = (zones: readonly string[], seconds: number): boolean =>
  zones.every((zone) => {
    const hour = hourIn(zone, seconds)
    return hour >= firstHour && hour < endHour
  })

/** Returns the time itself if it is day in all the time zones, else the next time that is. */
export function nextDay(zones: readonly string[], seconds: number): number {
  if (isDay(zones, seconds)) return seconds
  let at = seconds - (seconds % stepSeconds) + stepSeconds
  while (!isDay(zones, at) && at < seconds + daySeconds) at += stepSeconds
  return at
}

const formats = new Map<string, Intl.DateTimeFormat>()

function hourIn(zone: string, seconds: number): number {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', hourCycle: 'h23', timeZone: zone })
    formats.set(zone, format)
  }
  return Number(format.format(new Date(seconds * 1_000)))
}

/** Country of users who have not set one, as the app assumes for the currency. */
const fallbackCountry = 'ID'
/** Any time at which today's offsets hold. */
const recentSeconds = Date.UTC(2026, 0) / 1_000
const zonesByCountry = new Map<string, readonly string[]>()

/**
 * Returns the time zones of a country, by its ISO 3166-1 code. A country that has none, or that has no
 * hour at which it is day everywhere, gets the zones of Indonesia.
 */
export function zonesOf(country: string | null): readonly string[] {
  const code = country ?? fallbackCountry
  const known = zonesByCountry.get(code)
  if (known) return known
  const found = timeZonesIn(code)
  const shares = found.length > 0 && isDay(found, nextDay(found, recentSeconds))
  const zones = shares ? found : timeZonesIn(fallbackCountry)
  zonesByCountry.set(code, zones)
  return zones
}

/** `getTimeZones` of ECMA-402 Locale Info, which TypeScript does not declare yet. */
const timeZonesIn = (country: string): readonly string[] =>
  (
    new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones(): string[] | undefined }
  ).getTimeZones() ?? []
