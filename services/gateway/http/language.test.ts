import { expect, test } from 'bun:test'
import { assert, property, string } from 'fast-check'
import { languages } from '#shared/language/language'
import { languageFor, languageFrom } from './language'

test.each([
  ['no header', null, 'en'],
  ['an empty header', '', 'en'],
  ['Indonesian', 'id', 'id'],
  ['Indonesian of Indonesia', 'id-ID', 'id'],
  ['Indonesian by its code of before 1989', 'in-ID', 'id'],
  ['Malay in upper case', 'MS-MY', 'ms'],
  ['Malay in a script and a region', 'ms-Latn-MY', 'ms'],
  ['the header of a browser in Indonesia', 'id-ID,id;q=0.9,en-US;q=0.8,en;q=0.7', 'id'],
  ['the header of a browser in Malaysia', 'ms-MY, ms; q=0.9, en; q=0.8', 'ms'],
  ['the highest quality, wherever it is', 'en;q=0.5, ms;q=0.8, id;q=0.7', 'ms'],
  ['the first of equal ones', 'ms, id', 'ms'],
  ['English before Indonesian', 'en, id;q=0.9', 'en'],
  ['another language before Malay', 'zh-CN, ms;q=0.5', 'ms'],
  ['other languages only', 'de, fr;q=0.8', 'en'],
  ['any language', '*', 'en'],
  ['Malay before any other', 'ms, *;q=0.5', 'ms'],
  ['any language before Malay', 'ms;q=0.5, *', 'en'],
  ['any language but English', '*, en;q=0', 'id'],
  ['a language that is excluded', 'id;q=0, ms;q=0.1', 'ms'],
  ['Indonesian only to refuse it', 'id;q=0', 'en'],
  ['nothing that exists', 'en;q=0, id;q=0, ms;q=0', 'en'],
  ['a quality of three digits', 'id;q=0.001', 'id'],
  ['a quality in upper case', 'en;Q=0.1, id;Q=0.2', 'id'],
  ['a quality above 1', 'id;q=2', 'en'],
  ['a quality that is no number', 'id;q=x', 'en'],
  ['a quality of four digits', 'id;q=0.9999', 'en'],
  ['an underscore', 'id_ID', 'en'],
  ['a name of the prototype', '__proto__, constructor', 'en'],
  ['empty members', ', ,ms,', 'ms'],
  ['a malformed member', 'id;q=;q=, ms', 'ms'],
  ['a longer header than any browser sends', `id${', de'.repeat(400)}`, 'en'],
])('%s is answered in the language it asks for, else in English', (_, header, language) => {
  expect(languageFrom(header)).toBe(language as never)
})

test('any header is answered in a language that exists', () =>
  assert(
    property(string({ unit: 'binary', maxLength: 60 }), (header) => {
      expect(languages).toContain(languageFrom(header))
    }),
  ))

test('a response with a text names its language, and what it depends on, once', () => {
  const request = new Request('http://a', { headers: { 'accept-language': 'ms' } })
  const set = { headers: { vary: 'Origin' } as Record<string, string> }
  for (const _ of [1, 2]) expect(languageFor({ request, set })).toBe('ms')
  expect(set.headers).toEqual({ 'content-language': 'ms', vary: 'Origin, Accept-Language' })
})
