import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { level, speakers } from '../../test-support/identity-providers'
import { nowMs, nowSeconds } from '../../test-support/wallets'
import { accessSignature } from './sumsub/client'

const wallet = `0x${'ab'.repeat(20)}` as const
const other = `0x${'cd'.repeat(20)}`
const seen: { method: string; url: string; headers: Headers }[] = []
/** Set that contains every inquiry, as if we had created all inquiries of this suite. */
const made = { has: () => true } as unknown as ReadonlySet<string>
const none = () => new Response('nothing here', { status: 404 })
let reply: (request: Request) => Response | Promise<Response> = none
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { method, url, headers } = request
    seen.push({ method, url, headers: new Headers(headers) })
    return reply(request)
  },
})
afterAll(() => server.stop(true))
beforeEach(() => {
  reply = none
})
const [sumsub, persona] = speakers.map((speaker) => speaker.adapter(server.url.origin, 'sandbox'))
const at = (text: string) => Date.parse(text)

type Over = {
  review?: object | null
  externalUserId?: string | null
  id?: null
  deleted?: boolean | null
}
/** Applicant as documented at docs.sumsub.com and in a recorded response, with invented data. */
const applicant = (over: Over = {}) => ({
  id: '65bd228a2a99e9196014ccc5',
  createdAt: '2026-11-20 17:12:42',
  key: 'CFLGUPVDEXFEAS',
  clientId: 'client',
  inspectionId: '65bd228a2a99e9196014ccc6',
  externalUserId: wallet,
  info: {
    firstName: 'RATNA',
    lastName: 'WIRA',
    dob: '1995-09-19',
    country: 'IDN',
    idDocs: [{ idDocType: 'PASSPORT', number: '15AC05169', ocrDocTypes: null }],
  },
  applicantPlatform: 'Web',
  agreement: { createdAt: '2026-11-20 17:12:52', source: 'WebSDK', targets: ['consent'] },
  requiredIdDocs: { docSets: [{ idDocSetType: 'IDENTITY', types: ['PASSPORT'] }] },
  lang: 'id',
  type: 'individual',
  ...over,
  review:
    over.review === null
      ? null
      : {
          reviewId: 'EBtPv',
          attemptId: 'EMFPc',
          attemptCnt: 1,
          elapsedSincePendingMs: 4120816,
          levelName: level,
          createDate: '2026-11-20 17:23:16+0000',
          reviewDate: '2026-11-20 18:31:57+0000',
          reviewResult: { reviewAnswer: 'GREEN' },
          reviewStatus: 'completed',
          priority: 0,
          moderatorNames: null,
          ...over.review,
        },
})
const red = (reviewRejectType?: string | null) => ({
  reviewResult: { reviewAnswer: 'RED', rejectLabels: ['FORGERY'], reviewRejectType },
})
const from = at('2026-11-20T18:31:57Z')

describe('a look-up at Sumsub', () => {
  const ask = (body: unknown) => {
    reply = () => Response.json(body)
    return sumsub!.lookUp(wallet, made)
  }
  test('is a signed request with our reference', async () => {
    await ask(applicant())
    const { method, headers, url } = seen.at(-1)!
    const path = `/resources/applicants/-;externalUserId=${wallet}/one`
    expect([method, url]).toEqual(['GET', `${server.url.origin}${path}`])
    expect(headers.get('x-app-token')).toBe('sbx:token')
    expect(headers.get('x-app-access-sig')).toBe(accessSignature('api-secret', String(nowSeconds), 'GET', path, ''))
  })
  test('returns a statement without personal data', async () => {
    expect(await ask(applicant())).toEqual({
      statement: {
        eventId: '65bd228a2a99e9196014ccc5:look-up:EMFPc:2026-11-20 18:31:57+0000:approved',
        occurredAtMs: from,
        subjectRef: wallet,
        providerRef: '65bd228a2a99e9196014ccc5',
        level,
        word: 'approved',
        sandbox: true,
        standingAtMs: expect.any(Number),
      },
    })
  })
  test('says that an approval stood when the request began, not when the answer came', async () => {
    const waitMs = 60
    reply = async () => {
      await Bun.sleep(waitMs)
      return Response.json(applicant())
    }
    const finding = (await sumsub!.lookUp(wallet, made)) as { statement: { standingAtMs: number } }
    expect(finding.statement.standingAtMs).toBeLessThanOrEqual(nowMs - waitMs + 1)
  })
  test('does not say that a refusal stands', async () => {
    expect(JSON.stringify(await ask(applicant({ review: red('FINAL') })))).not.toContain('standingAtMs')
  })
  test.each<[string, Over, object]>([
    ['GREEN', {}, { word: 'approved', occurredAtMs: from }],
    ['RED for good', { review: red('FINAL') }, { word: 'rejected', isFinal: true, occurredAtMs: from + 999 }],
    [
      'RED for good at another level',
      { review: { ...red('FINAL'), levelName: 'other' } },
      { word: 'rejected', isFinal: true, level: 'other' },
    ],
    ['RED of no kind', { review: red(null) }, { word: 'rejected', occurredAtMs: from + 999 }],
    ['RED to be tried again', { review: red('RETRY') }, { word: 'resubmit', occurredAtMs: from + 999 }],
    ['GREEN at another level', { review: { levelName: 'other' } }, { word: 'approved', level: 'other' }],
    ['GREEN at no level', { review: { levelName: null } }, { word: 'approved', level: null }],
    [
      'GREEN whose end has no time',
      { review: { reviewDate: null } },
      { word: 'approved', occurredAtMs: at('2026-11-20T17:23:16Z') },
    ],
    [
      'GREEN at a time with milliseconds',
      { review: { reviewDate: '2026-11-20 18:31:57.123' } },
      { word: 'approved', occurredAtMs: from + 123 },
    ],
    ['GREEN while a service is awaited', { review: { reviewStatus: 'awaitingService' } }, { word: 'none' }],
    [
      'a check in progress',
      { review: { reviewStatus: 'pending', reviewResult: null } },
      { word: 'none', progress: 'submitted', occurredAtMs: expect.any(Number) },
    ],
    ['a check on hold', { review: { reviewStatus: 'onHold' } }, { word: 'none' }],
    [
      'a user moved to another level',
      { review: { reviewStatus: 'init', levelName: 'other', reviewResult: null } },
      { word: 'none', progress: 'unfinished', level: 'other' },
    ],
    ['a status we never saw', { review: { reviewStatus: 'constructor' } }, { word: 'none' }],
    ['a colour we never saw', { review: { reviewResult: { reviewAnswer: '__proto__' } } }, { word: 'none' }],
    ['no result', { review: { reviewResult: null } }, { word: 'none' }],
    ['no review', { review: null }, { word: 'none', level: null }],
    ['no id, and not deleted', { id: null, deleted: null }, { word: 'approved', providerRef: null }],
  ])('understands %s', async (_, over, statement) => {
    expect(await ask(applicant(over))).toMatchObject({ statement })
  })
  test.each<[string, Over, string]>([
    ['deactivated or deleted, with any review', { deleted: true }, 'reset'],
    ['reset', { review: { reviewStatus: 'init', reviewResult: null, reviewDate: null } }, 'reset'],
    ['rejected without a time', { review: { ...red('FINAL'), reviewDate: null } }, 'rejected'],
  ])('finds no valid approval for an applicant %s', async (_, over, word) => {
    const finding = await ask(applicant(over))
    expect(finding).toMatchObject({ undated: { word, subjectRef: wallet } })
    expect(JSON.stringify(finding)).not.toContain('occurredAtMs')
  })
  test.each([
    ['sbx:token', true],
    ['prd:token', false],
    ['token', true],
  ])('with the key %s counts as sandbox: %p', async (_, sandbox) => {
    reply = () => Response.json(applicant())
    const asked = speakers[0]!.adapter(server.url.origin, sandbox ? 'sandbox' : 'production')
    expect(await asked.lookUp(wallet, made)).toMatchObject({ statement: { sandbox } })
  })
  test('finds no applicant when Sumsub reports so in its own format', async () => {
    const body = {
      description: 'Applicant not found',
      code: 404,
      correlationId: '3f37fccd332c3f7f',
    }
    reply = () => Response.json(body, { status: 404 })
    expect(await sumsub!.lookUp(wallet, made)).toEqual({ nobody: true })
  })
  test.each<[string, unknown]>([
    ['about another user', applicant({ externalUserId: other })],
    ['without a user', applicant({ externalUserId: null })],
    ['with an approval that has no time', applicant({ review: { reviewDate: null, createDate: null } })],
    ['with a review of another form', { ...applicant(), review: 'GREEN' }],
    ['with a list', [applicant()]],
  ])('security: rejects a response %s', async (_, body) => {
    await expect(ask(body)).rejects.toThrow(/sumsub:|identity provider/)
  })
})

/** Inquiry as documented at docs.withpersona.com, with invented data. */
const inquiry = (status: string, over: object = {}, template: string | null = level) => ({
  type: 'inquiry',
  id: `inq_${status}${Math.random().toString(36).slice(2)}`,
  attributes: {
    status,
    'reference-id': wallet,
    note: null,
    behaviors: { 'bot-score': 70, 'completion-time': 40.172463903 },
    tags: [],
    creator: 'API',
    'reviewer-comment': null,
    'created-at': '2026-11-20T17:00:00.000Z',
    'updated-at': '2026-11-20T19:00:00.000Z',
    'completed-at': '2026-11-20T17:30:00.000Z',
    'decisioned-at': '2026-11-20T18:31:57.000Z',
    'redacted-at': null,
    'name-first': 'Ratna',
    birthdate: '1995-09-19',
    fields: { 'name-first': { type: 'string', value: 'Ratna' } },
    ...over,
  },
  relationships: {
    account: { data: { id: 'act_n2uq9eKMboaCQzu9ALWYcVdN', type: 'account' } },
    template: { data: {} },
    'inquiry-template': { data: template && { id: template, type: 'inquiry-template' } },
    reviewer: { data: {} },
    verifications: { data: [{ id: 'ver_uHDiwtcx3htjajvEaeMjPQcE', type: 'verification/selfie' }] },
  },
})
const list = (...data: object[]) => ({ data, links: { prev: null, next: null } })
const decisioned = (time: string | null) => ({ 'decisioned-at': time })

describe('a look-up at Persona', () => {
  const ask = (body: unknown) => {
    reply = () => Response.json(body)
    return persona!.lookUp(wallet, made)
  }
  test('requests the decided inquiries with our reference', async () => {
    await ask(list())
    const { method, headers, url } = seen.at(-1)!
    const { pathname, searchParams } = new URL(url)
    expect([method, pathname]).toEqual(['GET', '/api/v1/inquiries'])
    expect(Object.fromEntries(searchParams)).toEqual({
      'filter[reference-id]': wallet,
      'filter[status]': 'approved,declined',
      'page[size]': '20',
    })
    expect(headers.get('authorization')).toBe('Bearer persona_sandbox_key')
    expect(headers.get('persona-version')).toBe('2025-12-08')
  })
  test('returns a statement without personal data', async () => {
    const approved = inquiry('approved')
    expect(await ask(list(approved))).toEqual({
      statement: {
        eventId: `${approved.id}:look-up:approved:${from}`,
        occurredAtMs: from,
        subjectRef: wallet,
        providerRef: approved.id,
        level,
        word: 'approved',
        sandbox: true,
      },
    })
  })
  const early = decisioned('2026-11-19T00:00:00.000Z')
  test.each<[string, object[], object]>([
    ['an approval', [inquiry('approved')], { word: 'approved', occurredAtMs: from }],
    ['a refusal', [inquiry('declined')], { word: 'rejected', occurredAtMs: from + 999 }],
    ['an approval after a refusal', [inquiry('approved'), inquiry('declined', early)], { word: 'approved' }],
    [
      'a refusal after an approval, though its inquiry is the older one',
      [inquiry('approved', early), inquiry('declined')],
      { word: 'rejected' },
    ],
    [
      'both at one moment, as the refusal',
      [
        inquiry('approved', decisioned('2026-11-20T18:31:57.500Z')),
        inquiry('declined', decisioned('2026-11-20T18:31:57.500Z')),
      ],
      { word: 'rejected' },
    ],
    [
      'an approval without the time of its decision',
      [inquiry('approved', decisioned(null))],
      { word: 'approved', occurredAtMs: at('2026-11-20T17:00:00Z') },
    ],
    [
      'a refusal without the time of its decision',
      [inquiry('declined', decisioned(null))],
      { word: 'rejected', occurredAtMs: at('2026-11-20T19:00:00Z') + 999 },
    ],
    [
      'a redacted approval, which stays one',
      [inquiry('approved', { 'redacted-at': '2027-01-01T00:00:00.000Z', 'name-first': null })],
      { word: 'approved', occurredAtMs: from },
    ],
    ['an approval by another template', [inquiry('approved', {}, 'itmpl_other')], { word: 'none' }],
    ['an approval by no template', [inquiry('approved', {}, null)], { word: 'none' }],
    ['a refusal by no template', [inquiry('declined', {}, null)], { word: 'rejected', level: null }],
    ['a review', [inquiry('needs_review')], { word: 'none' }],
    ['a completed inquiry', [inquiry('completed')], { word: 'none' }],
    ['a status we never saw', [inquiry('toString')], { word: 'none' }],
    ['no status', [inquiry('x', { status: null })], { word: 'none' }],
  ])('understands %s', async (_, inquiries, statement) => {
    expect(await ask(list(...inquiries))).toMatchObject({ statement })
  })
  test('finds no valid approval after a refusal without a time', async () => {
    const declined = inquiry('declined', { ...decisioned(null), 'updated-at': null })
    expect(await ask(list(inquiry('approved'), declined))).toMatchObject({
      undated: { word: 'rejected', providerRef: declined.id },
    })
  })
  test('does not count an approval without any time', async () => {
    const approved = inquiry('approved', { ...decisioned(null), 'created-at': null })
    expect(await ask(list(approved))).toMatchObject({ statement: { word: 'none' } })
  })
  test('reads every page of inquiries', async () => {
    const newer = Array.from({ length: 20 }, () => inquiry('approved', early))
    const declined = inquiry('declined')
    reply = (request) => {
      const after = new URL(request.url).searchParams.get('page[after]')
      return Response.json(after === newer.at(-1)!.id ? list(declined) : list(...newer))
    }
    expect(await persona!.lookUp(wallet, made)).toMatchObject({ statement: { word: 'rejected' } })
  })
  test('fails when the pages do not end', async () => {
    const full = list(...Array.from({ length: 20 }, () => inquiry('declined')))
    await expect(ask(full)).rejects.toThrow(/too many inquiries/)
  })
  test('finds no applicant when the list is empty', async () => {
    expect(await ask(list())).toEqual({ nobody: true })
  })
  test.each<[string, unknown]>([
    ['about another user', list(inquiry('approved', { 'reference-id': other }))],
    ['partly about another user', list(inquiry('approved'), inquiry('declined', { 'reference-id': other }))],
    ['without a user', list(inquiry('approved', { 'reference-id': null }))],
    ['with an inquiry that has no id', list({ ...inquiry('approved'), id: null })],
    ['without a list', { data: inquiry('approved') }],
    ['with null', { data: null }],
  ])('security: rejects a response %s', async (_, body) => {
    await expect(ask(body)).rejects.toThrow(/persona:/)
  })
})

describe.each(speakers.map(({ name }, index) => [name, index] as const))('a look-up at %s', (_, index) => {
  const asked = [sumsub, persona][index]!
  test.each<[string, () => Response]>([
    ['an error', () => Response.json({ code: 500 }, { status: 500 })],
    ['that the key is wrong', () => Response.json({ code: 401 }, { status: 401 })],
    ['that the key may not', () => Response.json({ code: 403 }, { status: 403 })],
    ['that there were too many questions', () => Response.json({ code: 429 }, { status: 429 })],
    ['a 404 from a proxy', () => new Response('<html>no such page</html>', { status: 404 })],
    ['a 404 in other words', () => Response.json({ error: 'no route' }, { status: 404 })],
    ['a page', () => new Response('<html>maintenance</html>')],
    ['nothing', () => new Response('')],
    ['null', () => new Response('null')],
    ['an empty object', () => Response.json({})],
    ['a redirect', () => Response.redirect('https://example.com', 302)],
    ['more than an answer can be', () => Response.json({ info: 'x'.repeat(1_100_000) })],
    ['half of an answer', () => new Response('{"externalUserId":"0x')],
  ])('fails without a finding if the response is %s', async (_, answer) => {
    reply = answer
    await expect(asked.lookUp(wallet, made)).rejects.toMatchObject({ name: 'ProviderDown' })
  })
  test('fails without a finding if the response breaks off', async () => {
    const half = 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"externalUserId":'
    const listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (socket) => void socket.end(half) },
    })
    const broken = speakers[index]!.adapter(`http://127.0.0.1:${listener.port}`, 'sandbox')
    try {
      await expect(broken.lookUp(wallet, made)).rejects.toMatchObject({ name: 'ProviderDown' })
    } finally {
      listener.stop(true)
    }
  })
})

describe('the verified name', () => {
  const named = (first: unknown, last: unknown) => ({ info: { firstName: first, lastName: last } })
  const askSumsub = (body: unknown, status = 200) => {
    reply = () => Response.json(body, { status })
    return sumsub!.findName(wallet, made)
  }

  test.each([
    ['both names', 'RATNA', 'WIRA', { givenNames: 'RATNA', surname: 'WIRA' }],
    ['blanks around them', ' RATNA ', ' WIRA', { givenNames: 'RATNA', surname: 'WIRA' }],
    ['one name alone', 'SUHARTO', null, { givenNames: 'SUHARTO', surname: null }],
    ['a last name alone', '', 'SUHARTO', { givenNames: 'SUHARTO', surname: null }],
    ['no name', null, undefined, null],
    ['a name of 101 letters', 'a'.repeat(101), null, null],
  ])('at Sumsub with %s', async (_, first, last, name) => {
    expect(await askSumsub({ ...applicant(), ...named(first, last) })).toEqual(name)
  })

  test('is that of an approved applicant alone', async () => {
    expect(await askSumsub(applicant({ review: red('RETRY') }))).toBeNull()
    expect(await askSumsub(applicant({ deleted: true }))).toBeNull()
    expect(await askSumsub(applicant({ review: { levelName: 'other' } }))).toBeNull()
    expect(await askSumsub({ code: 404, description: 'Applicant not found' }, 404)).toBeNull()
    await expect(askSumsub(applicant({ externalUserId: other }))).rejects.toThrow('not the one requested')
  })

  test('at Persona is that of the approved inquiry that we created', async () => {
    const found = inquiry('approved')
    const attributes = { ...found.attributes, 'name-first': 'RATNA', 'name-last': 'WIRA' }
    reply = ({ url }) =>
      Response.json(new URL(url).pathname.endsWith(`/${found.id}`) ? { data: { ...found, attributes } } : list(found))
    expect(await persona!.findName(wallet, made)).toEqual({ givenNames: 'RATNA', surname: 'WIRA' })
    expect(await persona!.findName(wallet, new Set())).toBeNull()
    reply = () => Response.json(list(inquiry('declined')))
    expect(await persona!.findName(wallet, made)).toBeNull()
  })
})
