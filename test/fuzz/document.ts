import type { TSchema } from 'typebox'
import { Compile } from 'typebox/schema'

/** A schema in which every `$ref` is resolved. */
export type Schema = Readonly<Record<string, unknown>>

export type Operation = {
  readonly method: string
  readonly path: string
  readonly security: string | undefined
  readonly body: Schema | undefined
  readonly parameters: readonly Parameter[]
  /** Returns the validator of a status' body, or undefined if the status is not documented. */
  readonly fits: (status: number) => ((value: unknown) => boolean) | undefined
}
export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

// biome-ignore lint/suspicious/noExplicitAny: a document is read field by field
type Json = any

/** Reads the operations from the served document, which is the fuzzer's only source. */
export async function readOperations(baseUrl: string): Promise<Operation[]> {
  const answer = await fetch(`${baseUrl}/openapi.json`, { signal: AbortSignal.timeout(10_000) })
  const document = await answer.json()
  const whole = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(whole)
    if (typeof value !== 'object' || value === null) return value
    if (typeof value.$ref === 'string') return whole(targetOf(document, value.$ref))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]))
  }
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods)
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => operationOf(method, path, whole(operation))),
  )
}

const targetOf = (document: Json, ref: string): Json =>
  ref
    .split('/')
    .slice(1)
    .reduce((value, name) => value?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], document)

function operationOf(method: string, path: string, operation: Json): Operation {
  const fits = new Map<number, (value: unknown) => boolean>()
  for (const [status, described] of Object.entries<Json>(operation.responses)) {
    const { 'application/json': json, ...others } = described.content ?? {}
    const compiled = json ? Compile(json.schema as TSchema) : undefined
    const mayBeText = Object.keys(others).length > 0
    const isText = (value: unknown) => mayBeText && (typeof value !== 'object' || value === null)
    fits.set(Number(status), (value) => isText(value) || (compiled?.Check(value) ?? true))
  }
  const [security] = Object.keys(operation.security?.[0] ?? {})
  return {
    method: method.toUpperCase(),
    path,
    security,
    body: operation.requestBody?.content['application/json'].schema,
    parameters: operation.parameters ?? [],
    fits: (status) => fits.get(status),
  }
}
