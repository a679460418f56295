import type { Route } from '#shared/api/route'

type Schema = {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly about?: string
  readonly pattern?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly '~codec'?: unknown
}

/** Text that replaces `shared/api/route.ts`: a route without its schemas, whose types alone remain. */
export const plainRoute = `
export type Route<B = unknown, A = unknown> = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body: B
  readonly answer: A
}
export type BodyOf<R extends Route> = R['body']
export type RouteAnswer<R extends Route> = R['answer']
`

/**
 * Opens the writer of modules without schemas. It gives the exports of a module as constants and TypeScript types: routes by
 * method and path, and everything else that is JSON. Named objects of all modules are collected in one namespace.
 */
export function openPlain() {
  const named = new Map<string, string>()

  const typeOf = (schema: Schema, isRead: boolean): string => {
    if (schema.properties && schema.title !== undefined) return `schemas.${nameIt(schema, schema.title, isRead)}`
    if (schema.properties) return bodyOf(schema, isRead)
    if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, isRead)).join(' | ')
    // Countries are plain text, so that an app may pass the text of a field.
    if (schema.enum && schema.enum.length > 100) return 'string'
    if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
    if ('const' in schema) return JSON.stringify(schema.const)
    if (schema.items) return `Array<${typeOf(schema.items, isRead)}>`
    if (schema.patternProperties)
      return `Record<string, ${typeOf(Object.values(schema.patternProperties)[0]!, isRead)}>`
    // The service reads hex in any case, and the client gets it in lower case.
    if (schema.type === 'string') return isRead && schema['~codec'] && isHex(schema) ? '`0x$' + '{string}`' : 'string'
    const simple = { integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }[schema.type ?? '']
    if (simple) return simple
    if (Object.keys(schema).every((key) => key.startsWith('~') || key === 'description')) return 'unknown'
    throw new Error(`no type is known for ${JSON.stringify(schema)}`)
  }

  const bodyOf = ({ properties = {}, required = [] }: Schema, isRead: boolean): string => {
    const fields = Object.entries(properties).map(([name, field]) => {
      const mark = required.includes(name) ? '' : '?'
      return `${commentOf(field)}${name}${mark}: ${typeOf(field, isRead)}`
    })
    return `{\n${fields.join('\n')}\n}`
  }

  const nameIt = (schema: Schema, name: string, isRead: boolean): string => {
    const text = `${commentOf(schema)}interface ${name} ${bodyOf(schema, isRead)}`
    const known = named.get(name)
    if (known !== undefined && known !== text) throw new Error(`two different types have the title ${name}: rename one`)
    named.set(name, text)
    return name
  }

  const constantOf = (name: string, value: unknown): string => {
    if (isSchema(value)) return ''
    if (isRoute(value)) {
      const { method, path, body, answer } = value
      const types = [body ? typeOf(body as Schema, false) : 'undefined', typeOf(answer as Schema, true)]
      return `export const ${name} = ${JSON.stringify({ method, path })} as unknown as Route<${types.join(', ')}>`
    }
    const isJson =
      value !== undefined && JSON.stringify(JSON.parse(JSON.stringify(value) ?? 'null')) === JSON.stringify(value)
    return isJson ? `export const ${name} = ${JSON.stringify(value)} as const` : ''
  }

  return {
    /** Returns the text of a module, given what it exports. */
    moduleOf: (exported: Readonly<Record<string, unknown>>): string => {
      const constants = Object.entries(exported).map(([name, value]) => constantOf(name, value))
      return [
        `import type { Route } from '#shared/api/route'`,
        `import type { schemas } from '#shared/api/schemas'`,
        ...constants.filter((text) => text !== ''),
      ].join('\n')
    },
    /** Returns the text of the module with all named objects, after all others are written. */
    schemas: (): string => {
      const sorted = [...named].sort(([left], [right]) => (left < right ? -1 : 1))
      const texts = sorted.map(([, text]) => text.replaceAll('schemas.', ''))
      return `/** Objects of requests and responses, named as in the OpenAPI document. */\nexport declare namespace schemas {\n${texts.join('\n')}\n}\n`
    },
  }
}

const isHex = ({ pattern }: Schema) => pattern?.startsWith('^0x') === true
const isSchema = (value: unknown) => typeof value === 'object' && value !== null && '~kind' in value
const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'answer' in value

function commentOf({ about, description }: Schema): string {
  const text = about ?? description
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */\n`
}
