/**
 * Titles and degrees that one side may have and the other not, in Indonesia and Malaysia. Without those that
 * are names as well, such as Sri, Tan and Ma.
 */
const titles: ReadonlySet<string> = new Set(
  `bapak bpk pak ibu bu sdr sdri saudara saudari tuan tn nyonya ny nona nn mr mrs ms miss
  h hj haji hajah kh dr drs dra drg prof ir datuk dato datin encik puan cik
  sh se st skom ssi spd sip sos ssos msi mm mba mkom mpd mh mt phd bsc msc ba`.split(/\s+/),
)
const titlesOfTwoWords = /\b(?:tan|puan)\s+sri\b/g

/**
 * Returns true if two names can be those of one holder: equal without regard to case, accents,
 * punctuation, titles, the order of their parts, and spaces within them. A part too many or too few is
 * another name. Undefined if a name has no letter to compare, or the bank has masked it.
 */
export function isSameName(left: string, right: string): boolean | undefined {
  if (/[*•]/.test(left + right)) return undefined
  const [some, others] = [formsOf(left), formsOf(right)]
  if (some.size === 0 || others.size === 0) return undefined
  return [...some].some((form) => others.has(form))
}

/** Spellings of a name: a dot may end an abbreviation (`S.H.`) or part two words (`Bpk.Sari`). */
function formsOf(name: string): ReadonlySet<string> {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/['’`]/g, '')
  const spellings = ['', ' '].map((dot) => partsOf(plain.replaceAll('.', dot)))
  const named = spellings.filter((parts) => parts.length > 0)
  return new Set(named.flatMap((parts) => [parts.toSorted().join(' '), parts.join('')]))
}

const wordsIn = (plain: string): string[] => plain.match(/[\p{L}\p{N}]+/gu) ?? []

/** Words of a name without titles; a name of titles alone keeps them. */
function partsOf(plain: string): string[] {
  const names = wordsIn(plain.replace(titlesOfTwoWords, ' ')).filter((word) => !titles.has(word))
  return names.length > 0 ? names : wordsIn(plain)
}
