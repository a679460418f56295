import { textIn } from '#shared/language/catalogue'
import type { Language } from '#shared/language/language'

/** How a response speaks to its user. `contact` is how users reach support. */
export type Wording = { readonly language: Language; readonly contact: string }

type Advised = { readonly nextAction: string | null; readonly sentence: string }

/** Adds the contact to the sentence of an item, or of a verification, whose next action is to contact support. */
export const withSupport = <A extends Advised>(advised: A, { language, contact }: Wording): A =>
  advised.nextAction === 'contact support'
    ? { ...advised, sentence: `${advised.sentence} ${textIn(language, [{ code: 'support.at', contact }])}` }
    : advised
