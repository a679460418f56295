import type { StaticDecode, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { DecodeUnsafe, HasCodec } from 'typebox/value'

/** Reads a value; `fault` is a sentence for logs. */
export type Reader<T> = (value: unknown) => { value: T } | Misfit
export type Misfit = {
  readonly fault: string
  readonly why: 'not an object' | 'missing' | 'unknown' | 'invalid'
  /** Path of the field with dots; empty for the value itself. */
  readonly field: string
  /** Code of the field's form, if its schema has one. */
  readonly says?: string
}

type Fault = { keyword: string; instancePath: string; params: object; schemaPath: string }

/**
 * Returns a reader of values. A property may have `says`, the code of its form, and an object `saysUnknown`, that for
 * unknown fields. Reading normalizes values in place (addresses to lower case).
 */
export function schemaReader<S extends TSchema>(schema: S): Reader<StaticDecode<S>> {
  type Read = StaticDecode<S>
  const known = readers.get(schema)
  if (known) return known as Reader<Read>
  const compiled = Compile(schema)
  const spell = spellOf(schema) ?? ((value: unknown) => value)
  const reader: Reader<Read> = (value) => {
    if (compiled.Check(value)) return { value: spell(value) as Read }
    return misfitOf(schema, value, compiled.Errors(value) as Fault[])
  }
  readers.set(schema, reader)
  return reader
}

/** Compiled readers by schema, because compiling takes a millisecond. */
const readers = new WeakMap<TSchema, Reader<unknown>>()

/** Normalizes objects and lists in place. */
type Spell = (value: unknown) => unknown

/**
 * Returns the function that normalizes values. TypeBox's Decode would also convert numbers to text and drop unknown
 * fields; its DecodeUnsafe takes 50 µs instead of 1.4 (measured on four fields).
 */
function spellOf(schema: TSchema): Spell | undefined {
  if (!HasCodec(schema)) return undefined
  const { properties, items, anyOf, '~codec': codec, type } = schema as Composite
  if (codec && type === 'string') return codec.decode
  if (!codec && type === 'object' && properties) return spellFields(properties)
  if (!codec && anyOf) return spellVariants(anyOf)
  const spell = !codec && items && !Array.isArray(items) && spellOf(items)
  if (spell) return (value) => spellItems(value as unknown[], spell)
  return (value) => DecodeUnsafe({}, schema, value)
}

type Composite = {
  properties?: Record<string, TSchema>
  items?: TSchema
  anyOf?: TSchema[]
  type?: string
  '~codec'?: { decode: Spell }
}

function spellFields(properties: Record<string, TSchema>): Spell {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const spell = spellOf(schema)
    return spell ? [{ name, spell }] : []
  })
  return (value) => {
    const object = value as Record<string, unknown>
    for (const { name, spell } of fields)
      if (object[name] !== undefined && Object.hasOwn(object, name)) object[name] = spell(object[name])
    return object
  }
}

function spellVariants(schemas: readonly TSchema[]): Spell {
  const variants = schemas.map((schema) => ({ form: Compile(schema), spell: spellOf(schema) }))
  return (value) => {
    const variant = variants.find(({ form }) => form.Check(value))
    return variant?.spell ? variant.spell(value) : value
  }
}

function spellItems(values: unknown[], spell: Spell): unknown[] {
  for (const [at, value] of values.entries()) values[at] = spell(value)
  return values
}

const plain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asObject = (value: unknown): Record<string, unknown> | undefined => (plain(value) ? value : undefined)

export function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

function misfitOf(schema: TSchema, value: unknown, faults: readonly Fault[]): Misfit {
  if (!plain(value)) return misfit('not an object', '')
  const missing = faults.find((fault) => fault.keyword === 'required')
  if (missing) {
    const [name] = (missing.params as { requiredProperties: string[] }).requiredProperties
    return misfit('missing', `${missing.instancePath}/${name}`)
  }
  const unknown = faults.find((fault) => fault.keyword === 'additionalProperties')
  if (unknown) {
    const [name] = (unknown.params as { additionalProperties: string[] }).additionalProperties
    const says = saysAt(schema, unknown.instancePath, 'saysUnknown')
    return misfit('unknown', `${unknown.instancePath}/${name}`, says)
  }
  const path = faults[0]?.instancePath ?? ''
  return misfit('invalid', path, saysAt(schema, path))
}

const faults = {
  'not an object': () => 'the body must be a JSON object',
  missing: (field) => `${field} is missing`,
  unknown: (field) => `${field} is not a known field`,
  invalid: (field, says) => (says ? `${field} is not a valid ${says}` : `${field} has an invalid value`),
} as const satisfies Record<Misfit['why'], (field: string, says?: string) => string>

function misfit(why: Misfit['why'], path: string, says?: string): Misfit {
  const field = nameOf(path)
  return { fault: faults[why](field || 'the body', says), why, field, ...(says ? { says } : {}) }
}

/** Converts `/bank/accountNumber` to `bank.accountNumber`. The name is cut, because it may be caller input. */
const nameOf = (path: string): string => path.slice(1).replaceAll('/', '.').slice(0, 60)

function saysAt(schema: TSchema, path: string, about: 'says' | 'saysUnknown' = 'says'): string | undefined {
  let node: unknown = schema
  for (const key of path.split('/').slice(1)) {
    const properties = (node as { properties?: Record<string, unknown> }).properties
    node = properties && Object.hasOwn(properties, key) ? properties[key] : undefined
    if (node === undefined) return undefined
  }
  return (node as { says?: string; saysUnknown?: string })[about]
}
