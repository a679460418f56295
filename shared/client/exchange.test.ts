import { describe, expect, test } from 'bun:test'
import { exchange, type Sent, verdictOn } from '#shared/client/exchange'
import { type Refusal, Unanswered } from '#shared/client/refusal'
import { errorCodes } from '#shared/refusals'

const said = (status: number, code: string | null, rest: Record<string, string> = {}) => ({
  status,
  headers: new Headers({ ...(code === null ? {} : { 'x-error-code': code }), ...rest }),
  body: { error: 'a sentence' },
})
const refusalIn = (verdict: object): Refusal | undefined =>
  (verdict as { refused?: Refusal }).refused

describe('a try that was answered', () => {
  test('with 200 is the answer', () => {
    const tried = { status: 200, headers: new Headers(), body: { id: 'q' } }
    expect(verdictOn(tried, 0)).toEqual({ ok: { id: 'q' } })
  })
  test.each([
    ['quote_used', 400],
    ['not_verified', 403],
    ['day_limit_reached', 429],
    ['gas_budget_spent', 429],
    ['treasury_short', 503],
    ['payouts_short', 503],
    ['sign_in_again', 401],
    ['bad_request', 400],
  ])('with %s stays a no, however often it is asked', (code, status) => {
    const refused = refusalIn(verdictOn(said(status, code), 0))
    expect(refused).toMatchObject({ code, status, message: 'a sentence' })
  })
  test.each([
    ['too_many_requests', 429],
    ['rate_unavailable', 503],
    ['provider_unavailable', 503],
    ['chain_unavailable', 503],
  ])('with %s is a no for the moment', (code, status) => {
    expect(verdictOn(said(status, code), 0)).toMatchObject({ again: { code } })
  })
  test.each([
    ['unavailable', 503],
    ['internal', 500],
  ])('with %s may have been done: the outcome is unknown', (code, status) => {
    expect(verdictOn(said(status, code), 0)).toHaveProperty('unknown')
  })
  test('by a proxy says nothing of the outcome', () => {
    const page = { status: 502, headers: new Headers(), body: null }
    expect(verdictOn(page, 0)).toHaveProperty('unknown')
  })
  test('with a word that this client does not know is read by its status', () => {
    const refused = refusalIn(verdictOn(said(400, 'a_word_of_next_year'), 0))
    expect(refused).toMatchObject({ code: 'bad_request', message: 'a sentence' })
    expect(errorCodes as string[]).not.toContain('a_word_of_next_year')
  })
  test('is followed by another no sooner than the service says, and each later than the last', () => {
    const after = (turn: number, seconds = '0') =>
      verdictOn(said(503, 'chain_unavailable', { 'retry-after': seconds }), turn)
    expect([0, 1, 2, 9].map((turn) => after(turn))).toMatchObject([
      { afterMs: 250 },
      { afterMs: 500 },
      { afterMs: 1_000 },
      { afterMs: 4_000 },
    ])
    expect(after(0, '7')).toMatchObject({ afterMs: 7_000 })
  })
})

describe('an exchange', () => {
  const sent: Sent = { method: 'POST', path: '/sends', headers: {}, body: '{"nonce":"1"}' }
  /** Answers in turn, the last for ever; remembers what it was sent. */
  const service = (...answers: (() => Response)[]) => {
    const bodies: unknown[] = []
    const fetch = async (_: string, { body }: RequestInit) => {
      const answer = answers[Math.min(bodies.length, answers.length - 1)]!
      bodies.push(body)
      return answer()
    }
    const place = { baseUrl: 'http://service', fetch, patienceMs: 30_000 }
    return { bodies, place, hasty: { ...place, patienceMs: 2_000 } }
  }
  const lost = (): Response => {
    throw new Error('the connection was reset')
  }
  const no = (status: number, code: string) => () =>
    Response.json({ error: 'no' }, { status, headers: { 'x-error-code': code } })
  const yes = () => Response.json({ sendId: 'snd_1' })

  test('repeats the same bytes until there is an answer', async () => {
    const { bodies, place } = service(lost, no(503, 'unavailable'), yes)
    expect(await exchange<unknown>(place, sent)).toEqual({ ok: { sendId: 'snd_1' } })
    expect(bodies).toEqual([sent.body, sent.body, sent.body])
  })
  test('asks once where the answer will stay', async () => {
    const { bodies, place } = service(no(400, 'balance_too_low'))
    expect(await exchange(place, sent)).toMatchObject({ refused: { code: 'balance_too_low' } })
    expect(bodies).toHaveLength(1)
  })
  test('that nobody answers ends as unknown, not as a no', async () => {
    const { hasty } = service(lost)
    await expect(exchange(hasty, sent)).rejects.toBeInstanceOf(Unanswered)
  })
  test('security: a no for the moment never hides an earlier try that may have been done', async () => {
    const { hasty } = service(lost, no(503, 'chain_unavailable'))
    await expect(exchange(hasty, sent)).rejects.toBeInstanceOf(Unanswered)
  })
  test('that is refused for the whole time is refused', async () => {
    const { bodies, hasty } = service(no(503, 'chain_unavailable'))
    expect(await exchange(hasty, sent)).toMatchObject({ refused: { code: 'chain_unavailable' } })
    expect(bodies.length).toBeGreaterThan(1)
  })
})
