import { describe, expect, test } from 'bun:test'
import type { TSchema } from 'typebox'
import { schemaReader } from '#platform/schema'
import { generalRefusals, refusals } from '#shared/declared-refusals'
import { type ErrorCode, errorCodes } from '#shared/refusals'
import { failureHeaders, failureOf, Refused } from '../http/failure'
import { goodBodies } from '../test-support/bodies'
import { fixtureOf } from '../test-support/fixture'

type Json = Record<string, unknown>
type Content = Record<string, { schema: TSchema; example: unknown }>
type Described = { description?: string; content?: Content; $ref?: string }
type Failure = {
  headers: Record<string, { required?: boolean; schema: { enum: string[] } }>
  content: Record<string, { examples: Record<string, unknown> }>
}
type Op = {
  operationId: string
  summary: string
  tags: string[]
  security?: Json[]
  parameters?: { $ref?: string; name: string; in: string; required?: boolean }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Described>
}
type Document = {
  openapi: string
  info: { title: string; version: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Op>>
  components: Record<string, Record<string, Json>>
}

const fixture = await fixtureOf()
const text = await (await fixture.call('GET', '/openapi.json')).text()
const document = JSON.parse(text) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, op]) => ({ name: `${method} ${path}`, method, path, op })),
)
const named = operations.map((one) => [one.name, one] as const)

const interfaceRoutes = [
  'get /config',
  'get /health',
  'get /me',
  'get /me/activity',
  'get /me/activity/{id}',
  'get /me/activity/{id}/receipt',
  'get /me/events',
  'get /me/export',
  'get /me/statement',
  'get /ready',
  'get /verify/{wallet}',
  'post /cashouts',
  'post /cashouts/check',
  'post /me/country',
  'post /me/verification',
  'post /quote',
  'post /sends',
  'post /settlements',
  'post /settlements/{id}/cancel',
  'post /topups',
  'post /topups/{id}/cancel',
  'post /webhooks/identity',
  'post /webhooks/payments',
]

type Field = {
  $ref?: string
  description?: string
  properties?: Record<string, Field>
  items?: Field
  anyOf?: Field[]
}

type NamedField = readonly [string, Field]

function fieldsOf([name, { properties = {}, items, anyOf = [] }]: NamedField): NamedField[] {
  const own = Object.entries(properties).map(([field, one]): NamedField => [`${name}.${field}`, one])
  const parts = [...(items ? [items] : []), ...anyOf].map((one): NamedField => [name, one])
  return [...own, ...[...own, ...parts].flatMap(fieldsOf)]
}

function refsOf(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return []
  const { $ref } = value as { $ref?: string }
  const own: [string, unknown][] = $ref ? [[$ref, targetOf($ref)]] : []
  return [...own, ...Object.values(value).flatMap(refsOf)]
}
const statusOfCode = (code: ErrorCode): number => statuses[code] ?? 0
const statuses: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries({ ...refusals, ...generalRefusals }).map(([code, { status }]) => [code, status]),
)
const targetOf = (ref: string): unknown =>
  ref
    .split('/')
    .slice(1)
    .reduce((at: unknown, key) => (at as Json | undefined)?.[key], document)

function whole(schema: unknown): TSchema {
  if (Array.isArray(schema)) return schema.map(whole) as never
  if (typeof schema !== 'object' || schema === null) return schema as never
  const { $ref } = schema as { $ref?: string }
  if ($ref) return whole(targetOf($ref))
  return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, whole(inner)])) as never
}

/** Finds bodies and lists with an inline schema. */
function nameless(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { type, enum: words, $ref } = value as { type?: string; enum?: unknown; $ref?: string }
  const isSchema = path.endsWith('/schema') || path.endsWith('/items')
  const own = isSchema && !$ref && (type === 'object' || words) ? [path] : []
  return [...own, ...Object.entries(value).flatMap(([key, one]) => nameless(one, `${path}/${key}`))]
}

describe('the OpenAPI document', () => {
  test('is version 1.0.0 in OpenAPI 3.1 with the public URL', () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0'])
    expect(document.servers).toEqual([{ url: 'http://127.0.0.1:3000' }])
  })
  test('lists exactly the routes of the interface', () => {
    expect(operations.map(({ name }) => name).sort()).toEqual(interfaceRoutes)
  })
  test('has no dangling $ref', () => {
    const dangling = refsOf(document).filter(([, target]) => target === undefined)
    expect(dangling).toEqual([])
  })
  test('has unique operation ids and defines every security scheme in use', () => {
    const ids = operations.map(({ op }) => op.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const schemes = new Set(operations.flatMap(({ op }) => (op.security ?? []).flatMap(Object.keys)))
    expect([...schemes].sort()).toEqual(Object.keys(document.components.securitySchemes!).sort())
  })
  test('names every body, and describes every schema that has a name', () => {
    expect(nameless(document.paths).filter((path) => !path.includes('/webhooks/'))).toEqual([])
    const { schemas } = document.components
    const silent = Object.entries(schemas!).filter(([, one]) => typeof one.description !== 'string')
    expect(silent.map(([name]) => name)).toEqual([])
  })
  test.each([
    'ActivityStatus',
    'ActivityReason',
    'ActivityKind',
    'ChannelKind',
    'NextAction',
    'HoldReason',
    'VerificationStatus',
  ])('has the closed list %s', (name) => {
    expect((document.components.schemas![name]!.enum as string[]).length).toBeGreaterThan(0)
  })
  test('names the unit of every amount of money', () => {
    const { schemas } = document.components
    const amounts = Object.entries(schemas!.Me!.properties as Record<string, { $ref?: string }>)
    const plain = amounts.filter(([, { $ref }]) => $ref === '#/components/schemas/Amount')
    expect(plain.map(([name]) => name)).toEqual(['score', 'ratioBps'])
  })
  test('lists each error code as an example and in the x-error-code header', () => {
    const responses = document.components.responses as unknown as Record<string, Failure>
    const { 431: _, ...worded } = responses
    const told = Object.entries(worded).flatMap(([status, { headers, content }]) => {
      const words = headers['x-error-code']!.schema.enum
      expect(Object.keys(content['application/json']!.examples)).toEqual(words)
      return words.map((word) => [word, Number(status)])
    })
    const known = errorCodes.map((code) => [code, statusOfCode(code)])
    expect(told.sort()).toEqual(known.sort())
  })
  test('declares the authentication of every operation', () => {
    for (const { name, op } of operations) expect([name, op.security]).not.toContain(undefined)
    const open = operations.filter(({ op }) => op.security?.length === 0).map(({ name }) => name)
    expect(open.sort()).toEqual(['get /config', 'get /health', 'get /ready', 'get /verify/{wallet}', 'post /quote'])
  })
  test('describes each field outside named schemas', () => {
    const fields = Object.entries(document.components.schemas!).flatMap(fieldsOf)
    expect(fields.length).toBeGreaterThan(100)
    const silent = fields.filter(([, { $ref, anyOf, description }]) => {
      return !$ref && !description && !anyOf?.some((one) => one.$ref)
    })
    expect(silent.map(([name]) => name)).toEqual([])
  })
  test.each([
    [/[sS]econds(Max|Min)?$/, 'in seconds'],
    [/[bB]ps$/, 'hundredths of a percent'],
    [/^GasLimits\./, 'Gas units'],
  ])('names the unit of every %s', (unit, words) => {
    const fields = Object.entries(document.components.schemas!).flatMap(([name, { properties }]) =>
      Object.entries((properties ?? {}) as Record<string, Described>).map(
        ([field, { description }]) => [`${name}.${field}`, description ?? ''] as const,
      ),
    )
    const found = fields.filter(([name]) => unit.test(name))
    expect(found.length).toBeGreaterThan(1)
    expect(found.filter(([, description]) => !description.includes(words))).toEqual([])
  })
  test('has only patterns that the regular expressions of every language take', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      JSON.parse(text!),
    )
    expect(patterns.length).toBeGreaterThan(10)
    const portable =
      /^(?:[\w:/, -]|\\[.dw]|\[\^?[^[\]\\]+\]|\((?!\?)|[)^$|?*+.]|\{(?:\d{1,3}|1000)(?:,(?:\d{0,3}|1000))?\})+$/
    expect(patterns.filter((one) => !portable.test(one))).toEqual([])
    const holder = { type: 'string', format: 'holder_name' }
    expect(document).toMatchObject({ components: { schemas: { Bank: { properties: { accountHolderName: holder } } } } })
  })

  test('declares the type of every enum', () => {
    const lists = text.match(/\{[^{}[\]]*"enum":\["/g) ?? []
    expect(lists.length).toBeGreaterThan(10)
    expect(lists.filter((list) => !list.includes('"type":"string"'))).toEqual([])
  })
  test('requires Retry-After with 429 and 503, as the gateway sends it', () => {
    const responses = document.components.responses as unknown as Record<string, Failure>
    const always = Object.entries(responses).filter(([, { headers }]) => headers?.['Retry-After']?.required)
    expect(always.map(([status]) => status)).toEqual(['429', '503'])
    for (const status of [429, 503] as const)
      expect(failureHeaders(failureOf(new Refused(status, [{ code: 'busy' }]), 0))).toHaveProperty('retry-after')
  })
  test('contains none of our own keywords and no refusal texts', () => {
    expect(text).not.toMatch(/"(says|saysUnknown|about)":/)
    expect(text).not.toContain('"description":"must be ')
  })
})

test('the operations whose responses have sentences name their language', () => {
  const worded = operations.filter(({ op }) =>
    Object.keys((op.responses['200'] as { headers?: Json }).headers ?? {}).includes('Content-Language'),
  )
  expect(worded.map(({ name }) => name).sort()).toEqual([
    'get /me',
    'get /me/activity',
    'get /me/activity/{id}',
    'get /me/activity/{id}/receipt',
    'post /cashouts/check',
    'post /settlements/{id}/cancel',
    'post /topups/{id}/cancel',
  ])
})

describe.each(named)('the OpenAPI operation %s', (_, { path, method, op }) => {
  test('has a summary, a tag, a 200 response, and bodies in JSON, CSV, HTML or events', () => {
    expect(op.summary.length).toBeGreaterThan(5)
    expect(op.tags).toHaveLength(1)
    expect(op.responses).toHaveProperty('200')
    expect(op.responses).toHaveProperty('500')
    const bodies = [op.requestBody, ...Object.values(op.responses)]
    for (const body of bodies)
      for (const type of Object.keys(body?.content ?? {}))
        expect(['application/json', 'text/csv', 'text/html', 'text/event-stream']).toContain(type)
  })
  test('declares the parameters of its path', () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
    const declared = (op.parameters ?? []).filter((one) => one.in === 'path')
    expect(declared.map((one) => one.name)).toEqual(inPath)
    for (const one of declared) expect(one.required).toBe(true)
  })
  test('has a language unless a provider calls it, and names that of its errors', () => {
    const languages = (op.parameters ?? []).filter(({ $ref }) => $ref === '#/components/parameters/AcceptLanguage')
    expect(languages).toHaveLength(path.startsWith('/webhooks/') ? 0 : 1)
    const failure = targetOf('#/components/responses/500') as unknown as Failure
    expect(Object.keys(failure.headers)).toContain('Content-Language')
  })
  test('documents the refusals of its kind', () => {
    const documented = Object.keys(op.responses)
    if (op.security?.length) expect(documented).toContain('401')
    if (op.requestBody) expect(documented).toEqual(expect.arrayContaining(['400', '413']))
    if (path !== '/health') expect(documented).toContain('503')
  })
  test('has examples that fit their schemas', () => {
    for (const body of [op.requestBody, op.responses['200']])
      for (const { schema, example } of Object.values(body?.content ?? {}))
        expect(schemaReader(whole(schema))(structuredClone(example))).toEqual({
          value: example,
        } as never)
  })
  test('is served by the app', async () => {
    const at = path.replace('{wallet}', `0x${'0'.repeat(40)}`).replace('{id}', 'pay_1')
    const response = await fixture.call(method.toUpperCase(), at)
    expect(response.status).not.toBe(404)
    expect(Object.keys(op.responses)).toContain(String(response.status))
  })
})

test('a 403 for this wallet is documented by the operations that can refuse one, and by no other', () => {
  const refusing = operations.filter(({ op }) => '403' in op.responses).map(({ name }) => name)
  expect(refusing.sort()).toEqual([
    'post /cashouts',
    'post /cashouts/check',
    'post /me/verification',
    'post /sends',
    'post /topups',
  ])
})

const conditional = operations.filter(
  ({ op }) => '304' in op.responses || op.parameters?.some(({ name }) => name === 'If-None-Match'),
)

test('the operations that answer a current ETag with 304 are those that apps poll', () => {
  const polled = ['get /config', 'get /me/activity', 'get /me/activity/{id}', 'get /verify/{wallet}']
  expect(conditional.map(({ name }) => name).sort()).toEqual(polled)
})

test.each(conditional)('$name documents its ETag and 304 for a current one', ({ op: { parameters, responses } }) => {
  expect(parameters).toContainEqual(expect.objectContaining({ name: 'If-None-Match', in: 'header' }))
  expect(responses['200']).toHaveProperty('headers.ETag')
  expect(responses['304']).toHaveProperty('headers.ETag')
  expect(responses['304']).not.toHaveProperty('content')
})

test('the tests of bodies have one for every operation that takes a body from an app', () => {
  const taking = operations.filter(({ op, path }) => op.requestBody && !path.startsWith('/webhooks/'))
  expect(Object.keys(goodBodies).sort()).toEqual(taking.map(({ path }) => path).sort())
})

describe('the documentation page', () => {
  test('is served with all its assets by the gateway', async () => {
    const page = await fixture.call('GET', '/docs')
    const html = await page.text()
    expect(page.headers.get('content-type')).toContain('text/html')
    const start = await (await fixture.call('GET', '/docs/start.js')).text()
    for (const part of [html, start]) expect(part).not.toMatch(/(https?:)?\/\/[\w.-]+\.\w+/)
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!)
    expect(loaded).toHaveLength(5)
    for (const path of loaded) {
      const response = await fixture.call('GET', path)
      expect([path, response.status]).toEqual([path, 200])
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(50)
    }
  })
  test('is the redirect target of /', async () => {
    const answer = await fixture.call('GET', '/')
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs'])
  })
  test('loads nothing else and runs no inline script', async () => {
    const policy = (await fixture.call('GET', '/docs')).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('http')
  })
})
