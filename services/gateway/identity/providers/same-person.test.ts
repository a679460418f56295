import { afterAll, describe, expect, test } from 'bun:test'
import { speakers } from '../../test-support/identity-providers'

const wallet = `0x${'ab'.repeat(20)}` as const
const other = `0x${'cd'.repeat(20)}` as const
const own = '65bd228a2a99e9196014ccc5'
/** Responses by path and query; everything else is a 404 in no known format. */
let replies: Record<string, unknown> = {}
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, search } = new URL(request.url)
    const reply = replies[decodeURIComponent(pathname + search)]
    if (reply === undefined) return Response.json({ code: 404 }, { status: 404 })
    return typeof reply === 'number' ? new Response('', { status: reply }) : Response.json(reply)
  },
})
afterAll(() => server.stop(true))
const [sumsub, persona] = speakers.map((speaker) => speaker.adapter(server.url.origin, 'sandbox'))

const isOurs = async (_: string, ref: string) => ref !== 'inq_foreign'
const check = '/resources/checks/latest?type=SIMILAR_SEARCH&applicantId='
const hits = (...ids: string[]) => ({
  duplicateApplicantHits: ids.map((applicantId) => ({
    applicantId,
    matchedFields: ['WIRA'],
    types: ['byFace'],
  })),
})
const stranger = (reviewResult: unknown) => ({
  externalUserId: 'customer-7',
  review: { reviewStatus: 'completed', reviewResult },
})
const applicants = {
  [`/resources/applicants/${own}/one`]: { externalUserId: wallet },
  '/resources/applicants/second/one': { externalUserId: other },
  '/resources/applicants/mine/one': { externalUserId: wallet },
  '/resources/applicants/stranger/one': stranger({ reviewAnswer: 'GREEN' }),
  '/resources/applicants/refused/one': stranger({ reviewAnswer: 'RED', reviewRejectType: 'FINAL' }),
  '/resources/applicants/asked-again/one': stranger({
    reviewAnswer: 'RED',
    reviewRejectType: 'RETRY',
  }),
  '/resources/applicants/begun/one': stranger(null),
  '/resources/applicants/odd/one': stranger('GREEN'),
}
const sumsubFinds = (answer: unknown) => {
  replies = { ...applicants, [check + own]: answer }
  return sumsub!.findSamePerson(wallet, own, isOurs)
}

describe('the duplicates check of Sumsub', () => {
  test.each<[string, unknown, unknown[]]>([
    ['without hits', { checks: [{ answer: 'GREEN' }] }, []],
    ['with null hits', { checks: [{ answer: 'GREEN', similarSearchInfo: null }] }, []],
    ['without the list around it', { answer: 'GREEN' }, []],
    ['with another wallet', { checks: [{ answer: 'RED', similarSearchInfo: hits('second') }] }, [other]],
    ['with hits in spite of GREEN', { answer: 'GREEN', similarSearchInfo: hits('second') }, [other]],
    ['with applicants of this wallet only', { answer: 'RED', similarSearchInfo: hits('mine', own) }, []],
    ['with an approved stranger', { answer: 'RED', similarSearchInfo: hits('stranger', 'refused') }, [null]],
    [
      'with strangers who were never approved',
      { answer: 'RED', similarSearchInfo: hits('refused', 'asked-again', 'begun') },
      [],
    ],
    ['with one that was deleted', { answer: 'RED', similarSearchInfo: hits('gone') }, [null]],
    ['that is RED and names nobody', { answer: 'RED' }, [null]],
  ])('%s: %j', async (_, answer, found) => {
    const same = await sumsubFinds(answer)
    expect(same).toEqual(found as never)
    expect(JSON.stringify(same)).not.toContain('WIRA')
  })

  test.each<[string, unknown]>([
    ['that does not exist', undefined],
    ['that fails', 500],
    ['without an answer', { checks: [{}] }],
    ['with an unknown answer', { checks: [{ answer: 'YELLOW' }] }],
    ['with an empty list', { checks: [] }],
    ['with a malformed stranger', { answer: 'RED', similarSearchInfo: hits('odd') }],
    ['with malformed hits', { answer: 'RED', similarSearchInfo: { duplicateApplicantHits: 'second' } }],
  ])('%s is no answer', async (_, answer) => {
    await expect(sumsubFinds(answer)).rejects.toThrow()
  })

  test('counts the hits beyond those that are looked up as strangers', async () => {
    const many = Array.from({ length: 12 }, () => 'second').map((id, at) => `${id}${at}`)
    const found = await sumsubFinds({ answer: 'RED', similarSearchInfo: hits('second', ...many) })
    expect(found).toContain(other)
    expect(found.at(-1)).toBeNull()
  })
})

const inquiry = (id: string, reference: string, account = 'act_1', status = 'approved') => ({
  type: 'inquiry',
  id,
  attributes: { status, 'reference-id': reference, 'name-first': 'RATNA' },
  relationships: { account: { data: { type: 'account', id: account } } },
})
const list = '/api/v1/inquiries?filter[account-id]=act_1&filter[status]=approved,declined&page[size]=20'
const personaFinds = (rows: unknown, one: unknown = { data: inquiry('inq_own', wallet) }) => {
  replies = { '/api/v1/inquiries/inq_own': one, [list]: rows }
  return persona!.findSamePerson(wallet, 'inq_own', isOurs)
}
const page = (...rows: object[]) => ({ data: rows, links: { next: null } })
const mine = inquiry('inq_own', wallet)

describe('the account of a Persona inquiry', () => {
  test.each<[string, unknown, unknown[]]>([
    ['with this wallet only', page(mine, inquiry('inq_old', wallet)), []],
    ['with another wallet', page(mine, inquiry('inq_2', other)), [other]],
    ['with a declined other wallet', page(mine, inquiry('inq_2', other, 'act_1', 'declined')), [other]],
    ['with an inquiry that anyone opened', page(mine, inquiry('inq_foreign', other)), []],
    ['with an approved stranger', page(mine, inquiry('inq_2', 'customer-7')), [null]],
    ['with a declined stranger', page(mine, inquiry('inq_2', 'x', 'act_1', 'declined')), []],
  ])('%s', async (_, rows, found) => {
    const same = await personaFinds(rows)
    expect(same).toEqual(found as never)
    expect(JSON.stringify(same)).not.toContain('RATNA')
  })

  test.each<[string, unknown, unknown]>([
    ['of an unknown inquiry', page(mine), 404],
    ['that is missing', page(mine), { data: { ...mine, relationships: {} } }],
    ['whose list has another account', page(mine, inquiry('inq_2', other, 'act_2')), { data: mine }],
    ['whose list lacks the inquiry', page(), { data: mine }],
    ['without a list', {}, { data: mine }],
    ['that fails', 500, { data: mine }],
  ])('%s is no answer', async (_, rows, one) => {
    await expect(personaFinds(rows, one)).rejects.toThrow()
  })
})
