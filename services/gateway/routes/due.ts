/** Chain times of an open cycle: unix seconds as decimal strings. */
export type DueDates = { readonly dueAt: string; readonly defaultsAt: string }

/** Returns the sentence about the next due date of an open cycle at a time in unix seconds. */
export function dueSentence({ dueAt, defaultsAt }: DueDates, nowSeconds: bigint): string {
  if (nowSeconds <= BigInt(dueAt))
    return `Repay by ${dateOf(dueAt)}. A later repayment counts as late and lowers your credit score.`
  const overdue = `Your repayment was due on ${dateOf(dueAt)}.`
  return nowSeconds <= BigInt(defaultsAt)
    ? `${overdue} Repay by ${dateOf(defaultsAt)}, or your debt may be marked as defaulted.`
    : `${overdue} Repay now: your debt may be marked as defaulted at any time.`
}

const dateFormat = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'long', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', timeZone: 'UTC' },
})

/** Largest time that a date can have, in unix seconds. */
const lastSeconds = 8_640_000_000_000n

/** Formats a time to the minute, which is never after it: \`24 December 2026, 07:00 UTC\`. */
function dateOf(seconds: string): string {
  const known = BigInt(seconds) < lastSeconds ? Number(seconds) : Number(lastSeconds)
  const parts = dateFormat.formatToParts(new Date(known * 1_000))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value
  return `${of('day')} ${of('month')} ${of('year')}, ${of('hour')}:${of('minute')} UTC`
}
