/** Titles and degrees in Indonesia and Malaysia, without those that are also names (Sri, Tan, Ma). */
const titles: ReadonlySet<string> = new Set(
  `bapak bpk pak ibu bu sdr sdri saudara saudari tuan tn nyonya ny nona nn mr mrs ms miss
  h hj haji hajah kh dr drs dra drg prof ir datuk dato datin encik puan cik
  sh se st skom ssi spd sip sos ssos msi mm mba mkom mpd mh mt phd bsc msc ba`.split(/\s+/),
)
const titlesOfTwoWords = /\b(?:tan|puan)\s+sri\b/g

/**
 * Returns true if two names are equal regardless of case, accents, punctuation, titles, spaces and order; a
 * missing or extra part makes them differ. Returns undefined if a name has no letters or is masked by the
 * bank.
 */
export function isSameName(left: string, right: string): boolean | undefined {
  if (/[*•]/.test(left + right)) return undefined
  const [some, others] = [formsOf(left), formsOf(right)]
  if (some.size === 0 || others.size === 0) return undefined
  return [...some].some((form) => others.has(form))
}

/** Returns the spellings of a name: a dot may end an abbreviation (`S.H.`) or separate two words (`Bpk.Sari`). */
function formsOf(name: string): ReadonlySet<string> {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/['’`]/g, '')
  const spellings = ['', ' '].map((dot) => partsOf(plain.replaceAll('.', dot)))
  const named = spellings.filter((parts) => parts.length > 0)
  return new Set(named.flatMap((parts) => [parts.toSorted().join(' '), parts.join('')]))
}

const wordsIn = (plain: string): string[] => plain.match(/[\p{L}\p{N}]+/gu) ?? []

/** Returns the parts of a name without its titles, unless it consists only of titles. */
function partsOf(plain: string): string[] {
  const names = wordsIn(plain.replace(titlesOfTwoWords, ' ')).filter((word) => !titles.has(word))
  return names.length > 0 ? names : wordsIn(plain)
}
