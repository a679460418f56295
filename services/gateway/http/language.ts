import { type Language, languages } from '#shared/language/language'
import type { Exchange } from './etag'

/** Maximum length of the header, far above what browsers send. */
const headerLengthMax = 1_000

/** Languages by code. Java and Android use `in`, the code before 1989, for Indonesian. */
const languageOf: ReadonlyMap<string, Language> = new Map([
  ...languages.map((one) => [one, one] as const),
  ['in', 'id'],
])

/** Language range of RFC 9110 section 12.5.4. */
const range = /^(\*|[a-z]{1,8})(?:-[a-z0-9]{1,8})*\s*(?:;\s*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/i

/** Returns the language of highest quality, the first at equal quality; regions and malformed ranges are ignored. */
export function languageFrom(header: string | null): Language {
  if (header === null || header.length > headerLengthMax) return languages[0]
  const asked = new Map<string, { quality: number; at: number }>()
  for (const [at, part] of header.split(',').entries()) {
    const [, tag, quality = '1'] = range.exec(part.trim()) ?? []
    const name = tag === '*' ? tag : languageOf.get(tag?.toLowerCase() ?? '')
    if (name && Number(quality) > (asked.get(name)?.quality ?? -1)) asked.set(name, { quality: Number(quality), at })
  }
  const accepted = languages.flatMap((language) => {
    const range = asked.get(language) ?? asked.get('*')
    return range && range.quality > 0 ? [{ language, ...range }] : []
  })
  accepted.sort((left, right) => right.quality - left.quality || left.at - right.at)
  return accepted[0]?.language ?? languages[0]
}

/** Returns the language of a request, and sets the response headers that depend on it. */
export function languageFor({ request, set: { headers } }: Exchange): Language {
  const language = languageFrom(request.headers.get('accept-language'))
  const others = String(headers.vary ?? '').split(', ')
  headers['content-language'] = language
  headers.vary = [...new Set([...others.filter(Boolean), 'Accept-Language'])].join(', ')
  return language
}
