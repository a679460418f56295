import type { TextRef } from '#shared/language/catalogue'

/** Dates of a debt, in unix seconds of the chain, as decimal strings. */
type DueDates = { readonly dueAt: string; readonly defaultsAt: string }

export function dueText({ dueAt, defaultsAt }: DueDates, nowSeconds: bigint): TextRef {
  if (nowSeconds <= BigInt(dueAt)) return { code: 'due.in_time', dueAt }
  return nowSeconds <= BigInt(defaultsAt)
    ? { code: 'due.in_grace', dueAt, defaultsAt }
    : { code: 'due.after_grace', dueAt }
}
