import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { eq, isNotNull } from 'drizzle-orm'
import { connect } from 'nats'
import { publish } from '#platform/bus/publish'
import { handler } from '#platform/bus/serve'
import { ChainAccount } from '#shared/messages/chain'
import { identityWebhookSubject } from '#shared/messages/webhooks'
import { identityAnomalies } from '../../services/gateway/identity/anomaly.store'
import { identities } from '../../services/gateway/identity/identity.store'
import { insertLink } from '../../services/gateway/identity/link.store'
import { deadLetters, inbox } from '../../services/gateway/schema.store'
import { account } from '../../services/gateway/test-support/bodies'
import {
  answerAs,
  type Dependencies,
  startBackbone,
  startGateway,
} from '../../services/gateway/test-support/dependencies'
import { webhookSecret } from '../../services/gateway/test-support/fixture'
import { waitUntil } from '../support/wait'

// The bodies are as identity vendors were seen to send and sign them. README.md names each source.

type Body = Record<string, unknown>
const recorded = (name: string): Body => JSON.parse(readFileSync(`${import.meta.dir}/identity/${name}.json`, 'utf8'))

let backbone: Dependencies
let gateway: Awaited<ReturnType<typeof startGateway>>
const asked: string[] = []
const vendor = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => {
    const wallet = new URL(request.url).searchParams.get('filter[reference-id]') ?? 'nobody'
    asked.push(wallet)
    const attributes = {
      status: 'approved',
      'reference-id': wallet,
      'decisioned-at': '2024-03-15T18:35:00.000Z',
    }
    const relationships = { 'inquiry-template': { data: { id: 'our-level' } } }
    const data = [{ type: 'inquiry', id: 'inq_asked', attributes, relationships }]
    return Response.json({ data, links: { next: null } })
  },
})
/** Relayer in whose chain every account is empty. */
let relayer: AsyncDisposable
beforeAll(async () => {
  backbone = await startBackbone()
  const empty = { drawn: '0', encumbered: '0', defaulted: false, frozen: false, cycle: null }
  relayer = await answerAs(backbone, 'chain-relayer', [
    handler(ChainAccount, async ({ wallet }) => ({ ok: { ...account, ...empty, wallet } })),
  ])
})
afterAll(async () => {
  await relayer?.[Symbol.asyncDispose]()
  await backbone?.[Symbol.asyncDispose]()
  await vendor.stop(true)
})

const signers = {
  sumsub: (body: string) => ({
    'x-payload-digest': createHmac('sha256', webhookSecret).update(body).digest('hex'),
    'x-payload-digest-alg': 'HMAC_SHA256_HEX',
  }),
  persona: (body: string) => {
    const t = Math.floor(Date.now() / 1000)
    const v1 = createHmac('sha256', webhookSecret).update(`${t}.${body}`).digest('hex')
    return { 'persona-signature': `t=${t},v1=${v1}` }
  },
}
type Vendor = keyof typeof signers

let recordedCount = 0
/** Sends a body. The status of the response shows whether it was new. */
async function post(name: Vendor, body: Body): Promise<void> {
  const text = JSON.stringify(body)
  const request = { method: 'POST', body: text, headers: signers[name](text) }
  const answer = await fetch(`${gateway.url}/webhooks/identity`, request)
  expect(answer.status).toBe(200)
  if (((await answer.json()) as { status: string }).status === 'recorded') recordedCount++
}
const handled = () =>
  waitUntil(
    'the deliveries being handled',
    async () => {
      const counting = backbone.database.read((db) => db.$count(inbox, isNotNull(inbox.doneAt)))
      return (await counting) === recordedCount
    },
    100_000,
  )
async function deliver(name: Vendor, body: Body): Promise<void> {
  await post(name, body)
  await handled()
}
const anomaliesNow = () =>
  backbone.database.read((db) => db.select().from(identityAnomalies).orderBy(identityAnomalies.noticedAt))
async function newAnomalies(work: () => Promise<void>): Promise<string[]> {
  const before = new Set((await anomaliesNow()).map(({ deliveryId }) => deliveryId))
  await work()
  const all = await anomaliesNow()
  return all.filter(({ deliveryId }) => !before.has(deliveryId)).map(({ kind }) => kind)
}
const stateOf = async (wallet: `0x${string}`) => {
  const rows = await backbone.database.read((db) => db.select().from(identities).where(eq(identities.wallet, wallet)))
  return rows[0]?.state ?? 'nobody'
}
let wallets = 0
const freshWallet = () => `0x${(++wallets).toString(16).padStart(40, '0')}` as `0x${string}`

const at = (tree: unknown, ...path: string[]) =>
  path.reduce((branch, key) => (branch as Record<string, Body>)[key]!, tree as Body)

/** Sets our reference, level and environment. */
const ours = {
  sumsub: (body: Body, wallet: string): Body => ({
    ...body,
    externalUserId: wallet,
    ...('levelName' in body ? { levelName: 'our-level' } : {}),
    ...('sandboxMode' in body ? { sandboxMode: true } : {}),
  }),
  persona: (body: Body, wallet: string): Body => {
    const mine = structuredClone(body)
    const event = at(mine, 'data')
    if ('id' in event) event.id = `${event.id}-${wallet}`
    const inquiry = at(event, 'attributes', 'payload', 'data')
    at(inquiry, 'attributes')['reference-id'] = wallet
    const relations = (inquiry.relationships ?? {}) as Record<string, { data: Body }>
    for (const name of ['template', 'inquiry-template']) if (relations[name]) relations[name].data.id = 'our-level'
    return mine
  },
}
const inquiryOf = (body: Body) => at(body, 'data', 'attributes', 'payload', 'data').id as string
/** Marks the inquiries, including the one to look up, as created by us for this wallet. */
async function created(wallet: `0x${string}`): Promise<`0x${string}`> {
  const refs = new Set(table.persona.map(([body]) => inquiryOf(recorded(body))))
  for (const providerRef of [...refs, 'inq_asked'])
    await backbone.database.run((db) => insertLink(db, { wallet, provider: 'persona', providerRef }))
  return wallet
}
/** Returns an old approval, for bodies that withdraw one. */
const approvalOf = {
  sumsub: (wallet: string): Body => ({
    ...ours.sumsub(recorded('sumsub-reviewed-green'), wallet),
    createdAtMs: '2019-01-01 00:00:00.000',
    correlationId: 'before',
  }),
  persona: (wallet: string): Body => {
    const body = ours.persona(recorded('persona-inquiry-approved'), wallet)
    at(body, 'data').id = `evt_before-${wallet}`
    at(body, 'data', 'attributes')['created-at'] = '2019-01-01T00:00:00.000Z'
    return body
  },
}

const open = (name: Vendor) => async () => {
  gateway = await startGateway(backbone, {
    identityProvider: name,
    identityLevel: 'our-level',
    identityApiUrl: `http://127.0.0.1:${vendor.port}`,
  })
}
const close = () => gateway[Symbol.asyncDispose]()

type Row = [body: string, anomaly: string[], before: 'nobody' | 'verified', after: string]
const unknown = ['subject_unknown']
const table: Record<Vendor, Row[]> = {
  sumsub: [
    ['sumsub-reviewed-green', unknown, 'nobody', 'verified'],
    ['sumsub-reviewed-red-final', unknown, 'verified', 'rejected'],
    ['sumsub-reviewed-red-retry', unknown, 'verified', 'resubmit'],
    ['sumsub-reviewed-blacklisted', unknown, 'verified', 'rejected'],
    ['sumsub-reset', unknown, 'verified', 'reset'],
    ['sumsub-workflow-completed-red', unknown, 'verified', 'rejected'],
    ['sumsub-pending', [], 'verified', 'verified'],
    ['sumsub-personal-info-changed', [], 'verified', 'verified'],
    ['sumsub-created', [], 'nobody', 'nobody'],
  ],
  persona: [
    ['persona-inquiry-approved', unknown, 'nobody', 'verified'],
    ['persona-inquiry-approved-fields', ['incomplete'], 'nobody', 'verified'],
    ['persona-inquiry-completed', [], 'nobody', 'nobody'],
    ['persona-inquiry-expired', [], 'verified', 'verified'],
    ['persona-inquiry-redacted', [], 'verified', 'verified'],
  ],
}

describe.each(['sumsub', 'persona'] as const)('%s', (name) => {
  beforeAll(open(name))
  afterAll(close)

  test.each(table[name])('%s: unchanged %j; for a user who was %s: %s', async (body, anomaly, before, after) => {
    expect(await newAnomalies(() => deliver(name, recorded(body)))).toEqual(anomaly)
    const wallet = await created(freshWallet())
    if (before === 'verified') await deliver(name, approvalOf[name](wallet))
    expect(await stateOf(wallet)).toBe(before)
    await deliver(name, ours[name](recorded(body), wallet))
    await waitUntil(`${body} being decided`, async () => (await stateOf(wallet)) === after)
  })

  test('with null, nothing or another type in any field, no body causes a new approval', async () => {
    const nobodyApproved: `0x${string}`[] = []
    for (const [body, , , after] of table[name]) {
      const changed = pathsOf(recorded(body)).flatMap((path) =>
        [null, undefined, {}].map((value) => {
          const wallet = freshWallet()
          const approves = after === 'verified' && body.includes('approved')
          if (!approves && !body.includes('green')) nobodyApproved.push(wallet)
          return replaced(ours[name](recorded(body), wallet), path, value)
        }),
      )
      await Promise.all(nobodyApproved.map(created))
      await Promise.all(changed.map((one) => post(name, one)))
    }
    await handled()
    const states = await Promise.all(nobodyApproved.map(stateOf))
    expect(new Set(states).has('verified')).toBe(false)
  })

  test.each<[string, Body]>([
    ['an empty object', { nothing: 1 }],
    ['a kind of null', { type: null, data: null }],
    ['an event without attributes', { data: { id: 'evt_1', type: 'event' } }],
    ['a request of a workflow', { inquiryId: 'inq_1', decision: 'approve' }],
    ['a list for an event', { data: [{ attributes: { name: 'inquiry.approved' } }] }],
  ])('%s is stored for manual review', async (_, body) => {
    expect(await newAnomalies(() => deliver(name, body))).toEqual(['unreadable'])
  })

  test('leaves no personal data in the stream, and no dead letter', async () => {
    const kept = await keptInStream()
    expect(kept.length).toBeGreaterThan(0)
    const personal = /Alexander|Sample|1977|Criminal|Пожалуйста|fraudulent|example\.com|14577264/
    expect(kept.filter((text) => personal.test(text))).toEqual([])
    expect(await backbone.database.read((db) => db.select().from(deadLetters))).toEqual([])
  })
})

describe('persona, where anyone can open an inquiry under any reference', () => {
  beforeAll(open('persona'))
  afterAll(close)

  test('security: a verdict of an inquiry that we did not create changes nothing, and is recorded', async () => {
    const approval = (wallet: string) => ours.persona(recorded('persona-inquiry-approved'), wallet)
    const foreign = (wallet: string, event: 'approved' | 'declined'): Body => {
      const body = approval(wallet)
      at(body, 'data').id = `evt_foreign_${event}_${wallet}`
      at(body, 'data', 'attributes').name = `inquiry.${event}`
      at(body, 'data', 'attributes', 'payload', 'data').id = 'inq_foreign'
      return body
    }
    const [verified, unverified] = [await created(freshWallet()), await created(freshWallet())]
    await deliver('persona', approvalOf.persona(verified))
    expect(await stateOf(verified)).toBe('verified')
    const found = await newAnomalies(async () => {
      await deliver('persona', foreign(verified, 'declined'))
      await deliver('persona', foreign(unverified, 'approved'))
    })
    expect(found).toEqual(['inquiry_unknown', 'inquiry_unknown'])
    expect([await stateOf(verified), await stateOf(unverified)]).toEqual(['verified', 'nobody'])
  })
})

describe('a Sumsub event that withdraws an approval', () => {
  beforeAll(open('sumsub'))
  afterAll(close)

  test.each(['applicantReset', 'applicantDeleted', 'applicantDeactivated'])(
    '%s withdraws an approval, whatever its environment and time',
    async (type) => {
      for (const over of [{}, { sandboxMode: false }, { sandboxMode: null }, { createdAt: null }]) {
        const wallet = freshWallet()
        await deliver('sumsub', approvalOf.sumsub(wallet))
        const body = { ...ours.sumsub(recorded('sumsub-reset'), wallet), type, levelName: null }
        await deliver('sumsub', { ...body, ...over })
        expect(await stateOf(wallet)).toBe('reset')
      }
    },
  )
})

describe('a gateway of sumsub', () => {
  beforeAll(open('sumsub'))
  afterAll(close)

  test('stores for manual review what arrives for another vendor', async () => {
    const found = await newAnomalies(async () => {
      await using bus = await backbone.busAs('gateway')
      const deliveryId = 'dlv_of_another_vendor'
      const received = { deliveryId, receivedAt: new Date().toISOString(), body: '{}' }
      const subject = identityWebhookSubject('persona', deliveryId)
      await publish(bus, { subject, id: deliveryId, payload: { provider: 'persona', ...received } })
      recordedCount++
      await handled()
    })
    expect(found).toEqual(['other_provider'])
  })

  test('ignores a time in the future', async () => {
    const wallet = freshWallet()
    const far = { createdAtMs: '2999-01-01 00:00:00.000' }
    const green = { ...ours.sumsub(recorded('sumsub-reviewed-green'), wallet), ...far }
    expect(await newAnomalies(() => deliver('sumsub', green))).toEqual(['incomplete'])
    expect(await stateOf(wallet)).toBe('nobody')
    await deliver('sumsub', approvalOf.sumsub(wallet))
    const red = { ...ours.sumsub(recorded('sumsub-reviewed-red-final'), wallet), ...far }
    await deliver('sumsub', red)
    expect(await stateOf(wallet)).toBe('rejected')
    const soon = new Date(Date.now() + 60_000).toISOString().replace('T', ' ').replace('Z', '')
    await deliver('sumsub', { ...green, createdAtMs: soon })
    expect(await stateOf(wallet)).toBe('verified')
  })
})

/** Returns the deliveries in the stream, which keeps them for 90 days. */
async function keptInStream(): Promise<string[]> {
  const { url, passwords } = backbone.nats
  const nc = await connect({ servers: url, user: 'admin', pass: passwords.admin })
  try {
    const { streams } = await nc.jetstreamManager()
    const { state } = await streams.info('WEBHOOKS')
    const every = Array.from({ length: state.last_seq }, (_, at) => at + 1)
    const messages = await Promise.all(every.map((seq) => streams.getMessage('WEBHOOKS', { seq })))
    return messages.map((message) => message.string())
  } finally {
    await nc.close()
  }
}

function pathsOf(tree: unknown, path: string[] = []): string[][] {
  if (typeof tree !== 'object' || tree === null) return [path]
  const below = Object.entries(tree).flatMap(([key, branch]) => pathsOf(branch, [...path, key]))
  return path.length === 0 ? below : [path, ...below]
}

function replaced(tree: Body, path: string[], value: unknown): Body {
  const copy = structuredClone(tree)
  const last = path.at(-1)!
  const holder = at(copy, ...path.slice(0, -1))
  if (value === undefined) delete holder[last]
  else holder[last] = value
  return copy
}
