import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLog } from '#platform/log'
import { asObject } from '#platform/schema'
import { openXendit as openPayments } from '../../services/payments/providers/xendit/client'
import { openXendit as openPayouts } from '../../services/payouts/providers/xendit/client'
import { openSandboxFixture, type SandboxFixture } from '../support/sandbox'
import { type Body, type Clients, forms, objectIn } from './forms'

// One contract of the wire: what was recorded, what the sandbox sends and what production code reads agree in each form.

let sandbox: SandboxFixture
beforeAll(async () => {
  sandbox = await openSandboxFixture()
})
afterAll(() => sandbox?.[Symbol.asyncDispose]())

let told: unknown
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(told) })
afterAll(() => server.stop(true))

const api = { baseUrl: server.url.origin, requestsPerMinute: 60_000, log: openLog('wire', 'silent') }
const clients: Clients = {
  payments: openPayments({ ...api, appUrl: 'https://app.example.com', secretKeys: { ID: 'i', MY: 'm' } }),
  payouts: openPayouts({ ...api, secretKey: 'i' }),
}
const asking = (object: unknown): Clients => {
  told = object
  return clients
}

/** Returns a recorded body. Those of identity providers are the whole file. */
function recorded(name: string): Body {
  const file = JSON.parse(readFileSync(join(import.meta.dir, `../recorded/${name}.json`), 'utf8')) as Body
  return name.startsWith('payments/') ? (file.body as Body) : file
}

/** Returns the JSON types by path. Null is of any type, and a list is as its first row. */
function typesIn(value: unknown, path = ''): Map<string, string> {
  if (Array.isArray(value)) return new Map([[path, 'list'], ...typesIn(value[0] ?? null, `${path}[]`)])
  if (typeof value !== 'object' || value === null) return new Map([[path, value === null ? 'null' : typeof value]])
  return new Map(Object.entries(value).flatMap(([key, one]) => [...typesIn(one, path === '' ? key : `${path}.${key}`)]))
}

/** Returns a body in one envelope: the provider documents refunds in two, and sends them in one. */
const flattened = (body: Body): Body => (asObject(asObject(body.data)?.data) ? { ...body, data: objectIn(body) } : body)

test.each(forms.flatMap((form) => form.recorded.map((name) => [form.name, name, form] as const)))(
  '%s, recorded as %s, is read by production code as agreed',
  async (_, name, { read, means }) => {
    expect(await read(recorded(name), asking)).toEqual(means)
  },
)

test.each(forms.map((form) => [form.name, form] as const))(
  '%s of the sandbox is read by production code as agreed, and has the fields of what was recorded',
  async (_, { play, read, means, recorded: names, differs = {} }) => {
    const played = await play(sandbox)
    expect(await read(played, asking)).toEqual(means)
    const own = typesIn(flattened(played))
    const bodies = names.map((name) => typesIn(flattened(recorded(name))))
    const always = [...(bodies[0]?.keys() ?? [])].filter((path) => bodies.every((types) => types.has(path)))
    const missing = always.filter((path) => !own.has(path))
    const ofOtherType = [...own].filter(([path, type]) => {
      const seen = bodies.flatMap((types) => types.get(path) ?? [])
      return seen.length > 0 && type !== 'null' && !seen.includes('null') && !seen.includes(type)
    })
    expect([...missing, ...ofOtherType.map(([path]) => path)].toSorted()).toEqual(Object.keys(differs).toSorted())
  },
)
