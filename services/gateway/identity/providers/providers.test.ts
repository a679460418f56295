import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { speakers } from '../../test-support/identity-providers'
import { nowMs, nowSeconds } from '../../test-support/wallets'
import { parsePersona, verifyPersona } from './persona/webhook'
import { accessSignature } from './sumsub/client'
import { parseSumsub } from './sumsub/webhook'

const wallet = `0x${'ab'.repeat(20)}` as const
type ReceivedCall = { path: string; headers: Headers; body: string }
const seen: ReceivedCall[] = []
const replies = new Map<string, () => Response>()
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname: path } = new URL(request.url)
    seen.push({ path, headers: request.headers, body: await request.text() })
    return replies.get(path)?.() ?? new Response('nothing here', { status: 404 })
  },
})
afterAll(() => server.stop(true))
const apiUrl = `http://127.0.0.1:${server.port}`
const [sumsub, persona] = speakers.map((speaker) => speaker.adapter(apiUrl, 'sandbox'))
const linkPath = '/resources/sdkIntegrations/levels/-/websdkLink'

describe('the parser of Sumsub webhooks', () => {
  const reviewed = {
    type: 'applicantReviewed',
    reviewStatus: 'completed',
    createdAtMs: '2026-11-21 07:00:00.123',
    sandboxMode: false,
  }
  const green = { reviewAnswer: 'GREEN' }
  test.each<[string, object, string]>([
    ['GREEN', { reviewResult: green }, 'approved'],
    ['RED for good', { reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'FINAL' } }, 'rejected'],
    ['RED without a kind', { reviewResult: { reviewAnswer: 'RED' } }, 'rejected'],
    ['RED to be tried again', { reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'RETRY' } }, 'resubmit'],
    ['GREEN while a service is awaited', { reviewStatus: 'awaitingService', reviewResult: green }, 'none'],
    ['GREEN of another kind of event', { type: 'applicantWorkflowCompleted', reviewResult: green }, 'none'],
    ['a colour we never saw', { reviewResult: { reviewAnswer: 'constructor' } }, 'none'],
    ['no result', {}, 'none'],
    ['a reset', { type: 'applicantReset' }, 'reset'],
    ['a deletion', { type: 'applicantDeleted' }, 'reset'],
    ['a deactivation', { type: 'applicantDeactivated' }, 'reset'],
    ['a pending applicant', { type: 'applicantPending', reviewStatus: 'pending' }, 'none'],
    ['an event we never saw', { type: 'toString' }, 'none'],
  ])('%s', (_, over, word) => {
    const read = parseSumsub(JSON.stringify({ ...reviewed, ...over }))
    expect(read).toMatchObject({ statement: { word, occurredAtMs: nowMs + 123, sandbox: false } })
  })
  test.each<[string, object, object]>([
    ['RED for good', { reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'FINAL' } }, { isFinal: true }],
    ['RED to be tried again', { reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'RETRY' } }, {}],
    ['RED without a kind', { reviewResult: { reviewAnswer: 'RED' } }, {}],
    ['FINAL with GREEN', { reviewResult: { reviewAnswer: 'GREEN', reviewRejectType: 'FINAL' } }, {}],
    ['an activation', { type: 'applicantActivated' }, { isToBeAsked: true }],
    ['a deletion', { type: 'applicantDeleted' }, { isForgotten: true }],
    ['a deactivation', { type: 'applicantDeactivated' }, {}],
    ['a reset', { type: 'applicantReset' }, {}],
  ])('reads what %s implies', (_, over, implied) => {
    const read = parseSumsub(JSON.stringify({ ...reviewed, ...over })) as { statement: Record<string, unknown> }
    const { isFinal, isToBeAsked, isForgotten } = read.statement
    const given = Object.entries({ isFinal, isToBeAsked, isForgotten }).filter(([, value]) => value !== undefined)
    expect(Object.fromEntries(given)).toEqual(implied as Record<string, boolean>)
    expect(parseSumsub(sumsub!.kept(JSON.stringify({ ...reviewed, ...over })))).toEqual(read as never)
  })
  test.each([
    ['applicantCreated', { progress: 'unfinished' }],
    ['applicantAwaitingUser', { progress: 'unfinished' }],
    ['applicantPending', { progress: 'submitted' }],
    ['applicantOnHold', { progress: 'submitted' }],
    ['applicantAwaitingService', { progress: 'submitted' }],
    ['applicantReviewed', {}],
    ['constructor', {}],
  ])('reads the progress of the user from %s', (type, said) => {
    const read = parseSumsub(JSON.stringify({ ...reviewed, type, reviewResult: green }))
    const { progress } = (read as { statement: { progress?: string } }).statement
    expect(progress === undefined ? {} : { progress }).toEqual(said)
  })
  test.each([
    [true, true],
    [false, false],
    [undefined, null],
    [null, null],
  ])('reads sandboxMode %p as sandbox: %p', (sandboxMode, sandbox) => {
    const read = parseSumsub(JSON.stringify({ ...reviewed, sandboxMode }))
    expect(read).toMatchObject({ statement: { sandbox } })
  })
  test('accepts null in every field that a decision does not need', () => {
    const nothing = ['applicantId', 'correlationId', 'externalUserId', 'levelName', 'sandboxMode']
    const nulls = [...nothing, 'reviewStatus', 'reviewResult', 'createdAt'].map((name) => [name, null])
    const body = { type: 'applicantPending', createdAtMs: '2026-11-21 07:00:00.123' }
    expect(parseSumsub(JSON.stringify({ ...body, ...Object.fromEntries(nulls) }))).toMatchObject({
      statement: { word: 'none', subjectRef: null, level: null, occurredAtMs: nowMs + 123 },
    })
    const reviewResult = { reviewAnswer: 'RED', reviewRejectType: null }
    expect(parseSumsub(JSON.stringify({ ...reviewed, reviewResult }))).toMatchObject({
      statement: { word: 'rejected' },
    })
  })
  test.each([
    ['GREEN', 'approved', 0],
    ['RED', 'rejected', 999],
  ])('rounds a time in whole seconds against the user: %s', (answer, word, ms) => {
    const older = { createdAtMs: undefined, createdAt: '2026-11-21 07:00:00+0000' }
    const body = { ...reviewed, ...older, reviewResult: { reviewAnswer: answer } }
    expect(parseSumsub(JSON.stringify(body))).toMatchObject({
      statement: { word, occurredAtMs: nowMs + ms },
    })
  })
  test.each(['yesterday', '2026-13-01 00:00:00', '1795244400123', ''])(
    'reads the time %p as no time',
    (createdAtMs) => {
      const read = parseSumsub(JSON.stringify({ ...reviewed, createdAtMs, reviewResult: green }))
      expect(read).toMatchObject({ undated: { word: 'approved', sandbox: false } })
    },
  )
  test.each([
    ['2026-11-21T07:00:00.123Z', 123],
    ['2026-11-21 14:00:00.123+0700', 123],
    ['2026-11-21 05:00:00.123456-02:00', 123],
    ['2026-11-21 07:00:00', 0],
  ])('reads the time %p in its own zone', (createdAtMs, ms) => {
    const read = parseSumsub(JSON.stringify({ ...reviewed, createdAtMs, reviewResult: green }))
    expect(read).toMatchObject({ statement: { occurredAtMs: nowMs + ms } })
  })
  test('takes the time of older events if the newer field has none', () => {
    const times = { createdAtMs: 'soon', createdAt: '2026-11-21 07:00:00+0000' }
    const read = parseSumsub(JSON.stringify({ ...reviewed, ...times, reviewResult: green }))
    expect(read).toMatchObject({ statement: { occurredAtMs: nowMs } })
  })
  test.each([
    ['RED of a workflow', { reviewAnswer: 'RED', reviewRejectType: 'FINAL' }, 'rejected'],
    ['GREEN of a workflow, already in its reviews', green, 'none'],
  ])('%s: %s', (_, reviewResult, word) => {
    const workflow = { type: 'applicantWorkflowCompleted', reviewResult }
    expect(parseSumsub(JSON.stringify({ ...reviewed, ...workflow }))).toMatchObject({
      statement: { word },
    })
  })
  test('stores neither comments nor foreign references, and parses the stored form alike', () => {
    const comment = 'Ratna Wirawan is on a list'
    const result = { reviewAnswer: 'RED', moderationComment: comment, clientComment: comment }
    const more = { externalUserId: 'ratna@example.com', info: { firstName: 'Ratna' } }
    const body = JSON.stringify({ ...reviewed, ...more, reviewResult: result })
    const kept = sumsub!.kept(body)
    expect(kept).not.toMatch(/ratna/i)
    expect(parseSumsub(kept)).toEqual(parseSumsub(body))
    expect(parseSumsub(kept)).toMatchObject({ statement: { word: 'rejected', subjectRef: null } })
    expect(sumsub!.kept(kept)).toBe(kept)
  })
})

describe('the parser of Persona webhooks', () => {
  const event = (name: string, key = 'reference-id') =>
    JSON.stringify({
      data: {
        id: 'evt_1',
        attributes: {
          name,
          [key.replace('reference', 'created').replace(/id$/i, (id) => (id === 'Id' ? 'At' : 'at'))]:
            '2026-11-21T07:00:00.000Z',
          payload: { data: { id: 'inq_1', attributes: { [key]: wallet } } },
        },
      },
    })
  test.each([
    ['inquiry.approved', 'approved'],
    ['inquiry.declined', 'rejected'],
    ['inquiry.marked-for-review', 'none'],
    ['inquiry.completed', 'none'],
    ['inquiry.failed', 'none'],
    ['__proto__', 'none'],
  ])('%s: %s', (name, word) => {
    expect(parsePersona(event(name), false)).toMatchObject({
      statement: { word, subjectRef: wallet },
    })
  })
  test.each([
    ['inquiry.started', 'unfinished'],
    ['inquiry.expired', 'unfinished'],
    ['inquiry.completed', 'submitted'],
    ['inquiry.marked-for-review', 'submitted'],
  ])('%s: it is %s', (name, progress) => {
    expect(parsePersona(event(name), false)).toMatchObject({ statement: { progress } })
  })
  test('a redaction of an inquiry deletes the personal data and changes no verdict', () => {
    const read = parsePersona(event('inquiry.redacted'), false)
    expect(read).toMatchObject({ statement: { word: 'none', isForgotten: true, providerRef: 'inq_1' } })
  })
  test.each(['reference-id', 'referenceId', 'reference_id'])('understands the key inflection of %s', (key) => {
    const read = parsePersona(event('inquiry.approved', key), false)
    expect(read).toMatchObject({ statement: { subjectRef: wallet, occurredAtMs: nowMs } })
  })
  test('accepts an event without an id or a time', () => {
    const { data } = JSON.parse(event('inquiry.declined'))
    const attributes = { ...data.attributes, 'created-at': null }
    expect(parsePersona(JSON.stringify({ data: { attributes } }), false)).toMatchObject({
      undated: { word: 'rejected', subjectRef: wallet, eventId: expect.stringMatching(/^inq_1:/) },
    })
  })
  test('drops a reference that we did not create', () => {
    const body = event('inquiry.approved').replace(wallet, 'ratna@example.com')
    expect(persona!.kept(body)).not.toContain('ratna')
    expect(parsePersona(body, false)).toMatchObject({ statement: { subjectRef: null } })
  })
  test('stores no personal data, and parses the stored form alike', () => {
    const { data } = JSON.parse(event('inquiry.approved'))
    const { attributes } = data.attributes.payload.data
    Object.assign(attributes, {
      'name-first': 'Ratna',
      birthdate: '1995-09-19',
      status: 'approved',
    })
    data.attributes.payload.included = [{ type: 'verification', attributes: { name: 'Ratna' } }]
    data.attributes.payload.data.relationships = {
      'inquiry-template': { data: { id: 'itmpl_1', type: 'inquiry-template' } },
    }
    const body = JSON.stringify({ data })
    const kept = persona!.kept(body)
    expect(kept).not.toMatch(/Ratna|1995/)
    expect(parsePersona(kept, false)).toEqual(parsePersona(body, false))
    expect(kept).toContain('"status":"approved"')
    expect(persona!.kept(kept)).toBe(kept)
  })
  test.each(['{"data":{"first-name":"Ratna"}}', '{"person":"Ratna"}', '[]', 'Ratna'])(
    'security: stores nothing of %p, an unknown form',
    (body) => {
      expect(persona!.kept(body)).not.toContain('Ratna')
    },
  )
  test('accepts either of two signatures during a rotation', () => {
    const body = new TextEncoder().encode('{}')
    const of = (secret: string) =>
      `t=${nowSeconds},v1=${createHmac('sha256', secret).update(`${nowSeconds}.{}`).digest('hex')}`
    const headers = new Headers({ 'persona-signature': `${of('old')} ${of('new')}` })
    expect(verifyPersona(body, headers, ['new'], nowMs)).toEqual({ ok: true })
    expect(verifyPersona(body, headers, ['other'], nowMs)).toHaveProperty('reason')
  })
  test.each(['', 't=1', 'v1=ab', 't=x,v1=ab', `t=${nowSeconds},v1=zz`, `t=${nowSeconds},v1=`, ','])(
    'security: refuses the signature %p',
    (header) => {
      const headers = new Headers({ 'persona-signature': header })
      expect(verifyPersona(new Uint8Array(), headers, ['secret'], nowMs)).toHaveProperty('reason')
    },
  )
})

describe('a verification link', () => {
  test('is created at Sumsub by one signed request', async () => {
    replies.set(linkPath, () => Response.json({ url: 'https://in.sumsub.com/websdk/p/1' }))
    expect(await sumsub!.createLink(wallet)).toEqual({
      url: 'https://in.sumsub.com/websdk/p/1',
      ref: null,
    })
    const { headers, body } = seen.at(-1)!
    const ts = String(nowSeconds)
    expect(JSON.parse(body)).toMatchObject({ userId: wallet, levelName: 'level-that-counts' })
    expect(headers.get('x-app-token')).toBe('sbx:token')
    expect(headers.get('x-app-access-ts')).toBe(ts)
    expect(headers.get('x-app-access-sig')).toBe(accessSignature('api-secret', ts, 'POST', linkPath, body))
  })
  test('is created at Persona in two steps', async () => {
    replies.set('/api/v1/inquiries', () => Response.json({ data: { id: 'inq_7' } }))
    replies.set('/api/v1/inquiries/inq_7/generate-one-time-link', () =>
      Response.json({ meta: { 'one-time-link': 'https://withpersona.com/verify?code=x' } }),
    )
    expect(await persona!.createLink(wallet)).toEqual({
      url: 'https://withpersona.com/verify?code=x',
      ref: 'inq_7',
    })
    const asked = seen.at(-2)!
    expect(asked.headers.get('authorization')).toBe('Bearer persona_sandbox_key')
    expect(JSON.parse(asked.body).data.attributes).toEqual({
      'inquiry-template-id': 'level-that-counts',
      'reference-id': wallet,
    })
  })
  test.each<[string, () => Response]>([
    ['an error', () => new Response('{}', { status: 500 })],
    ['no JSON', () => new Response('hello')],
    ['no link', () => Response.json({})],
    ['a script for a link', () => Response.json({ url: 'javascript:alert(1)' })],
    ['a link in the clear', () => Response.json({ url: 'http://example.com/x' })],
    ['a redirect', () => Response.redirect('https://example.com', 302)],
  ])('security: is refused in a response with %s', async (_, reply) => {
    replies.set(linkPath, reply)
    await expect(sumsub!.createLink(wallet)).rejects.toThrow(/identity provider/)
  })
})
