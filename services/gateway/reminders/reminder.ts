import { recordingSeconds } from '#shared/chain/recording-seconds'
import { type ReminderKind, reminderKinds } from '#shared/messages/credit'

/**
 * Dates of a cycle, in unix seconds of the chain. `defaultsAt` is the end of the grace period, or later if debt was restored.
 */
export type CycleDates = {
  readonly openedAt: number
  readonly dueAt: number
  readonly defaultsAt: number
}

/** Decision about a debt. `lookAt` is null if no reminder will follow. */
type ReminderDecision = {
  readonly send: ReminderKind | null
  readonly lookAt: number | null
}

const daySeconds = 86_400
/** Longest times for reminders, in seconds: before the due date, and after the grace period. */
export const aheadSeconds = 3 * daySeconds
export const behindSeconds = 7 * daySeconds
/**
 * Returns the longest time from the end of the grace period to `defaultsAt`, in seconds: a payment made until then is
 * recorded within a week and revocable for a hold and its extensions, and the restored debt has a day. A hold's end is rounded
 * up by at most a fifteenth.
 */
export const restoredSeconds = (holdSeconds: number): number => recordingSeconds + 2 * holdSeconds + 2 * daySeconds

/**
 * Decides which reminder is due. A delayed reminder is sent only until the next kind's time, while it is
 * true. A reminder whose time came before the debt existed is left out.
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
      kind,
      from: starts[at]!,
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

const [firstHour, endHour] = [8, 20]
/** Step of the search, in seconds; time zones differ by multiples of it. */
const stepSeconds = 900

export const isDay = (zones: readonly string[], seconds: number): boolean =>
  zones.every((zone) => {
    const hour = hourIn(zone, seconds)
    return hour >= firstHour && hour < endHour
  })

/** Returns the next time that is day in all zones, which may be the given time itself. */
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

/** Country of users without one, as the app assumes for the currency. */
const fallbackCountry = 'ID'
/** Any time at which today's time zone offsets hold, in unix seconds. */
const recentSeconds = Date.UTC(2026, 0) / 1_000
const zonesByCountry = new Map<string, readonly string[]>()

/**
 * Returns the time zones of a country (ISO 3166-1). If it has none, or no hour that is day in all of them,
 * the zones of Indonesia count.
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

/** Returns the result of `getTimeZones` (ECMA-402 Locale Info), which TypeScript does not declare yet. */
const timeZonesIn = (country: string): readonly string[] =>
  (new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones(): string[] | undefined }).getTimeZones() ?? []
