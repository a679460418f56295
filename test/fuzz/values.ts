import fc, { type Arbitrary } from 'fast-check'
import type { Schema } from './document'

export function validOf(schema: Schema): Arbitrary<unknown> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (choices) return fc.oneof(...choices.map(validOf))
  switch (schema.type) {
    case 'object':
      return objectOf(schema)
    case 'array':
      return fc.array(validOf((schema.items ?? {}) as Schema), { maxLength: 3 })
    case 'string':
      return textOf(schema)
    case 'integer':
    case 'number':
      return fc.integer({
        min: Number(schema.minimum ?? 0),
        max: Number(schema.maximum ?? 1_000_000),
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue()
  }
}

function objectOf(schema: Schema): Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const fields = Object.entries(properties).map(([name, one]) => [name, validOf(one)] as const)
  const required = (schema.required ?? []) as string[]
  return fc.record(Object.fromEntries(fields), { requiredKeys: required })
}

function textOf(schema: Schema): Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid()
  // Texts whose pattern is not portable, so that the document has a format instead.
  if (schema.format === 'holder_name') return fc.constantFrom(...(schema.examples as string[]))
  if (schema.format === 'signature') return fc.stringMatching(/^0x(?:[0-9a-f]{2}){65}$/)
  const max = Number(schema.maxLength ?? 4_096)
  const min = Number(schema.minLength ?? 0)
  if (typeof schema.pattern !== 'string')
    return fc.string({ minLength: min, maxLength: Math.min(max, Math.max(min, 60)) })
  return fc.stringMatching(new RegExp(schema.pattern)).filter((text) => text.length >= min && text.length <= max)
}

const strange: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  2 ** 53,
  '',
  ' ',
  '0',
  '-1',
  '00',
  '1e3',
  '0x',
  '１２３',
  '\u0000',
  '\u202e',
  '\ud800',
  'a'.repeat(70_000),
  '9'.repeat(400),
  '#{7*7}',
  '{{7*7}}',
  "' or 1=1 --",
  '"; drop table payments; --',
  '../../etc/passwd',
  '%00',
  '<script>1</script>',
  '__proto__',
  'constructor',
  'toString',
  'NaN',
  'undefined',
  'payments.>',
  '$SRV.PING',
  [],
  [[]],
  {},
  { $gt: '' },
  { toString: 1 },
  Array.from({ length: 2_000 }, () => 'x'),
]

export const invalidOf = (schema: Schema): Arbitrary<unknown> =>
  fc
    .tuple(validOf(schema), fc.nat(), fc.constantFrom('less', 'more', 'other'), fc.nat())
    .map(([value, at, how, which]) => spoil(value, at, how, strange[which % strange.length]))

type Holder = Record<string, unknown>

function spoil(value: unknown, at: number, how: string, by: unknown): unknown {
  const copy = structuredClone(value)
  const holders = holdersIn(copy)
  const holder = holders[at % Math.max(1, holders.length)]
  if (!holder) return by
  const names = Object.keys(holder)
  const name = names[at % Math.max(1, names.length)]
  if (how === 'more' || name === undefined) {
    Object.defineProperty(holder, ['extra', '__proto__', 'constructor'][at % 3]!, {
      value: by,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else if (how === 'less') delete holder[name]
  else holder[name] = by
  return copy
}

const holdersIn = (value: unknown): Holder[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return [value as Holder, ...Object.values(value).flatMap(holdersIn)]
}

export const hostileBodies: readonly (string | Uint8Array)[] = [
  '',
  ' ',
  'null',
  '[]',
  '""',
  '0',
  'nul',
  '{',
  '{"a":}',
  '{"a":1,}',
  '\ufeff{}',
  'a=1&b=2',
  '{"amount":"1","amount":"2"}',
  '['.repeat(60_000),
  `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
  `{"a":"${'x'.repeat(65_000)}"}`,
  `{"a":"${'x'.repeat(200_000)}"}`,
  '{"a":1e999999}',
  '{"a":"\\ud800"}',
  new Uint8Array([0xff, 0xfe, 0x00, 0x7b]),
  new Uint8Array([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3]),
  new Uint8Array(64 * 1024 + 1).fill(0x20),
]

/** Paths that proxies, parsers and routers may interpret differently. */
export const hostilePaths: readonly string[] = [
  '/../me',
  '/%2e%2e/me',
  '//me',
  '/me/',
  '/ME',
  '/me%00',
  '/me%0d%0aX: 1',
  '/me;a=1',
  '/.env',
  '/verify/',
  '/verify/0x',
  '/verify/%',
  '/verify/%ff',
  `/verify/0x${'0'.repeat(4_000)}`,
  '/verify/0x0000000000000000000000000000000000000001/..',
  '/metrics',
  '/console/live',
  '/me/activity?limit=-1',
  '/me/activity?limit=1e9',
  '/me/activity?limit=',
  '/me/activity?cursor=%00',
  '/me/activity?cursor=../../x',
  '/me/activity?limit=5&limit=6',
  `/me/activity?cursor=${'A'.repeat(6_000)}`,
]

export const hostileHeaders: readonly Readonly<Record<string, string>>[] = [
  { authorization: 'Service' },
  { authorization: 'Service ..' },
  { authorization: `Service 0x${'0'.repeat(40)}.99999999999999999999.0x${'0'.repeat(130)}` },
  { authorization: `Bearer ${'a'.repeat(7_000)}` },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-encoding': 'gzip' },
  { 'x-request-id': 'a b\tc' },
  { 'x-request-id': 'x'.repeat(5_000) },
  { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, ::1' },
  { 'if-none-match': '"'.repeat(3_000) },
  { 'accept-language': 'id;q=9, ,;q=;, *;q=-1, __proto__' },
  { 'accept-language': 'ms-'.repeat(2_000) },
  { 'x-callback-token': '' },
  { 'x-callback-token': 'x'.repeat(3_000) },
  { traceparent: '00-0-0-00' },
  { expect: 'something' },
]
