import { catalogue, type TextRef, textIn } from '#shared/language/catalogue'
import type { Language } from '#shared/language/language'

/** How a response speaks to its user. `contact` is how users reach support. */
export type Wording = { readonly language: Language; readonly contact: string }

type Advised = { readonly nextAction: string | null; readonly sentence: string }

const contactText = ({ language, contact }: Wording) => textIn(language, [{ code: 'support.at', contact }])

/** Adds the contact to the sentence of an item, or of a verification, whose next action is to contact support. */
export const withSupport = <A extends Advised>(advised: A, wording: Wording): A =>
  advised.nextAction === 'contact support'
    ? { ...advised, sentence: `${advised.sentence} ${contactText(wording)}` }
    : advised

const sendsToSupport = ({ code }: TextRef): boolean => /contact support/i.test(catalogue[code].en)

/** Returns the sentences of an error, with the contact if they send the user to support. */
export const errorText = (texts: readonly TextRef[], wording: Wording): string =>
  [textIn(wording.language, texts), ...(texts.some(sendsToSupport) ? [contactText(wording)] : [])].join(' ')
