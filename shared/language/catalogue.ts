import { accountTexts } from '#shared/language/account'
import type { Language } from '#shared/language/language'
import { paymentTexts } from '#shared/language/payments'
import { refusalTexts } from '#shared/language/refusals'
import { requestTexts } from '#shared/language/requests'
import { timeText, type Zone } from '#shared/language/time'
import { autoRepayTexts, cashoutTexts, transferTexts } from '#shared/language/transfers'
import { moneyText } from '#shared/money/text'

/** All texts; a missing language is a type error. No native speaker has read the Indonesian or Malay yet. */
export const catalogue = {
  ...refusalTexts,
  ...requestTexts,
  ...accountTexts,
  ...paymentTexts,
  ...cashoutTexts,
  ...transferTexts,
  ...autoRepayTexts,
}
type Catalogue = typeof catalogue
export type Code = keyof Catalogue

type Parameter<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Parameter<Rest> : never

type Plain = { [K in Code]: Parameter<Catalogue[K]['en']> extends never ? K : never }[Code]

/**
 * A text with its parameters. `ausd` is in 10⁻⁶ AUSD, `dueAt` and `defaultsAt` in Unix seconds, `since` in ISO 8601;
 * all others are shown as they are.
 */
export type TextRef =
  | { readonly code: Plain }
  | {
      readonly [K in Exclude<Code, Plain>]: { readonly code: K } & {
        readonly [P in Parameter<Catalogue[K]['en']>]: string
      }
    }[Exclude<Code, Plain>]

type Form = { readonly zone?: Zone }
const seconds = (text: string, language: Language, form: Form) => timeText(Number(text) * 1_000, language, form)
const formats: Readonly<Record<string, (value: string, language: Language, form: Form) => string>> = {
  ausd: (micro, language) => moneyText(micro, 'AUSD', language),
  dueAt: seconds,
  defaultsAt: seconds,
  since: (iso, language, form) => {
    const ms = Date.parse(iso)
    return language === 'en' || Number.isNaN(ms) ? iso : timeText(ms, language, form)
  },
}

const parameter = /\{(\w+)\}/g

/** Writes texts in a language, with times in the zone of the reader, or without one in that of the language. */
export const textIn = (language: Language, texts: readonly TextRef[], form: Form = {}): string =>
  texts.map((one) => filled(catalogue[one.code][language], one, language, form)).join(' ')

const filled = (text: string, values: Readonly<Record<string, string>>, language: Language, form: Form) =>
  text.replace(parameter, (_, name: string) => {
    const value = values[name] ?? ''
    return formats[name]?.(value, language, form) ?? value
  })

export const parametersOf = (text: string): string[] => [...text.matchAll(parameter)].map(([, name]) => name!)

/** A text of another service, whose code may be newer than this process. */
type Received = Readonly<Record<string, unknown>> & { readonly code: string }

/** Forms of the parameters that are formatted; all others are shown in any form. */
const digits = /^[0-9]+$/
const forms: Readonly<Record<string, RegExp>> = { ausd: digits, dueAt: digits, defaultsAt: digits }

export const isKnown = (text: Received): text is TextRef =>
  Object.hasOwn(catalogue, text.code) &&
  parametersOf(catalogue[text.code as Code].en).every((name) => {
    const value = text[name]
    return typeof value === 'string' && (forms[name]?.test(value) ?? true)
  })

/** Returns the texts together with their English for an older gateway, which may not know a code. */
export const sentenceOf = (texts: readonly TextRef[]) => ({
  sentence: textIn('en', texts),
  texts: [...texts],
})
