import type { StaticDecode, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { DecodeUnsafe, HasCodec } from 'typebox/value'

/** Reads an unknown value as `T`, or says in one sentence what is wrong with it. */
export type Reader<T> = (value: unknown) => { value: T } | { fault: string }

type Fault = { keyword: string; instancePath: string; params: object; schemaPath: string }

/**
 * Compiles a TypeBox schema to a reader. A property may carry `says: 'must be …'`, the words a
 * person gets when the property is of another form. What is read is spelt as the schema says
 * (addresses in lower case), in the object that was given.
 */
export function readerOf<S extends TSchema>(schema: S): Reader<StaticDecode<S>> {
  type Read = StaticDecode<S>
  const known = readers.get(schema)
  if (known) return known as Reader<Read>
  const compiled = Compile(schema)
  const spell = spellOf(schema) ?? ((value: unknown) => value)
  const reader: Reader<Read> = (value) => {
    if (compiled.Check(value)) return { value: spell(value) as Read }
    return { fault: faultOf(schema, value, compiled.Errors(value) as Fault[]) }
  }
  readers.set(schema, reader)
  return reader
}

/** Compiling costs a millisecond, reading a microsecond: each schema is compiled once. */
const readers = new WeakMap<TSchema, Reader<unknown>>()

/** Spells a value of its schema as the schema says, in place where it is an object or a list. */
type Spell = (value: unknown) => unknown

/**
 * Undefined where nothing is spelt otherwise than it is written. TypeBox's Decode would also turn a
 * number into a text and drop unknown fields; its DecodeUnsafe walks the whole schema at each value,
 * which costs 50 µs where this costs 1.4 (measured on an answer of four fields).
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
      if (object[name] !== undefined && Object.hasOwn(object, name))
        object[name] = spell(object[name])
    return object
  }
}

/** Of several forms the first that the value has. */
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

/** A JSON object; undefined for everything else. */
export const asObject = (value: unknown): Record<string, unknown> | undefined =>
  plain(value) ? value : undefined

/** The JSON object that a text is; undefined for every other text. */
export function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

function faultOf(schema: TSchema, value: unknown, faults: readonly Fault[]): string {
  if (!plain(value)) return 'the body must be a JSON object'
  const missing = faults.find((fault) => fault.keyword === 'required')
  if (missing) {
    const [name] = (missing.params as { requiredProperties: string[] }).requiredProperties
    return `${nameOf(`${missing.instancePath}/${name}`)} is missing`
  }
  const unknown = faults.find((fault) => fault.keyword === 'additionalProperties')
  if (unknown) {
    const [name] = (unknown.params as { additionalProperties: string[] }).additionalProperties
    return `${nameOf(`${unknown.instancePath}/${name}`)} is not a known field`
  }
  const first = faults[0]
  if (!first) return 'the body is not of the expected form'
  return `${nameOf(first.instancePath)} ${saysAt(schema, first.instancePath) ?? 'is not of the expected form'}`
}

/** `/bank/accountNumber` -> `bank.accountNumber`; cut, because the name may be the caller's own text. */
const nameOf = (path: string): string =>
  path.slice(1).replaceAll('/', '.').slice(0, 60) || 'the body'

function saysAt(schema: TSchema, path: string): string | undefined {
  let node: unknown = schema
  for (const key of path.split('/').slice(1)) {
    const properties = (node as { properties?: Record<string, unknown> }).properties
    node = properties && Object.hasOwn(properties, key) ? properties[key] : undefined
    if (node === undefined) return undefined
  }
  return (node as { says?: string }).says
}
