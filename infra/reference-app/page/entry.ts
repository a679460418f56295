import type { Language } from '#shared/client/client'
import type { Currency } from '#shared/money/money'
import { type Conversion, microFor } from './conversion'
import { numberText, parseAmount } from './format'

/**
 * What is in the field of an amount. `micro` is the AUSD (10⁻⁶) that a button or the page has entered: the text stands for
 * just that, until the user types another one.
 */
export type Entry = { readonly text: string; readonly micro?: string }

export type EntryTerms = {
  readonly currency: Currency
  /** Converts to AUSD and back, with the latest rate. */
  readonly conversion?: Conversion | undefined
  readonly mostMicro?: string | undefined
}

/** Writes AUSD (10⁻⁶). Returns undefined if that needs a rate and there is none. */
export function entryOf(micro: string, { currency, conversion }: EntryTerms, language: Language): Entry | undefined {
  const minor = currency === 'AUSD' ? micro : conversion?.toLocal(micro)
  return minor === undefined ? undefined : { text: numberText(minor, currency, language), micro }
}

/** Returns the AUSD (10⁻⁶) of an entry. Undefined if it is no amount, or if that needs a rate and there is none. */
export function microOf({ text, micro }: Entry, terms: EntryTerms, language: Language): string | undefined {
  if (micro !== undefined) return micro
  const { currency, conversion, mostMicro } = terms
  const minor = parseAmount(text, currency, language)
  if (minor === undefined || currency === 'AUSD') return minor
  return conversion && microFor(minor, conversion, mostMicro)
}

/**
 * Keeps an entry when the rate or the currency changes: what was typed as it is, in its currency, and AUSD as so much
 * AUSD. What was typed in a currency that is no longer used becomes the AUSD that it stood for, or goes if it stood for
 * none. Returns undefined if neither the rate nor the currency has changed.
 */
export function keptEntry(
  entry: Entry,
  { before, now, language }: { before: EntryTerms; now: EntryTerms; language: Language },
): Entry | undefined {
  const isSameCurrency = before.currency === now.currency
  if (isSameCurrency && before.conversion?.rate === now.conversion?.rate) return undefined
  if (entry.text === '' || (isSameCurrency && entry.micro === undefined)) return entry
  const micro = microOf(entry, before, language)
  if (micro === undefined) return { text: '' }
  return entryOf(micro, now, language) ?? entry
}
