import type { TextRef } from '#shared/language/catalogue'

/** Chain times of an open cycle: unix seconds as decimal strings. */
export type DueDates = { readonly dueAt: string; readonly defaultsAt: string }

/** Returns the text about the next due date of an open cycle at a time in unix seconds. */
export function dueText({ dueAt, defaultsAt }: DueDates, nowSeconds: bigint): TextRef {
  if (nowSeconds <= BigInt(dueAt)) return { code: 'due.in_time', dueAt }
  return nowSeconds <= BigInt(defaultsAt)
    ? { code: 'due.in_grace', dueAt, defaultsAt }
    : { code: 'due.after_grace', dueAt }
}
