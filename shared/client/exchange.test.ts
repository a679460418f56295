import { describe, expect, spyOn, test } from 'bun:test'
import { exchange, type SentCall, tryOnce, verdictOn } from '#shared/client/exchange'
import { type ClientRefusal, Unanswered } from '#shared/client/refusal'
import { errorCodes } from '#shared/refusals'

const said = (status: number, code: string | null, rest: Record<string, string> = {}) => ({
  status,
  headers: new Headers({ ...(code === null ? {} : { 'x-error-code': code }), ...rest }),
  body: { error: 'a sentence' },
})
const refusalIn = (verdict: object): ClientRefusal | undefined => (verdict as { refused?: ClientRefusal }).refused

describe('a response', () => {
  test('with 200 is the result', () => {
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
  ])('with %s is a final refusal', (code, status) => {
    const refused = refusalIn(verdictOn(said(status, code), 0))
    expect(refused).toMatchObject({ code, status, message: 'a sentence' })
  })
  test.each([
    ['too_many_requests', 429],
    ['too_slow', 408],
    ['rate_unavailable', 503],
    ['provider_unavailable', 503],
    ['chain_unavailable', 503],
  ])('with %s is a temporary refusal', (code, status) => {
    expect(verdictOn(said(status, code), 0)).toMatchObject({ again: { code } })
  })
  test.each([
    ['unavailable', 503],
    ['internal', 500],
  ])('with %s leaves the outcome unknown', (code, status) => {
    expect(verdictOn(said(status, code), 0)).toHaveProperty('unknown')
  })
  test('of a proxy leaves the outcome unknown', () => {
    const page = { status: 502, headers: new Headers(), body: null }
    expect(verdictOn(page, 0)).toHaveProperty('unknown')
  })
  test('with an unknown error code is read by its status', () => {
    const refused = refusalIn(verdictOn(said(400, 'a_word_of_next_year'), 0))
    expect(refused).toMatchObject({ code: 'bad_request', message: 'a sentence' })
    expect(errorCodes as string[]).not.toContain('a_word_of_next_year')
  })
  test('is followed by the next attempt no sooner than Retry-After, each later than the last', () => {
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
  const sent: SentCall = { method: 'POST', path: '/sends', headers: {}, body: '{"nonce":"1"}' }
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

  test('repeats the same bytes until there is a response', async () => {
    const { bodies, place } = service(lost, no(503, 'unavailable'), yes)
    expect(await exchange<unknown>(place, sent)).toEqual({ ok: { sendId: 'snd_1' } })
    expect(bodies).toEqual([sent.body, sent.body, sent.body])
  })
  test('waits longer for the rest of a response than for its beginning', async () => {
    const timers = new Map<unknown, { readonly ms: number; readonly end: () => void }>()
    const set = spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms: number) => {
      const timer = Symbol()
      timers.set(timer, { ms, end })
      return timer
    }) as unknown as typeof setTimeout)
    const clear = spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => void timers.delete(timer))
    const waits = () => [...timers.values()].map(({ ms }) => ms)
    const target = { baseUrl: 'http://service' }
    try {
      let finish = () => {}
      const fetch = async () => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            finish = () => {
              controller.enqueue(new TextEncoder().encode('{"rows":[]}'))
              controller.close()
            }
          },
        })
        expect(waits()).toEqual([15_000])
        return new Response(body)
      }
      const tried = tryOnce({ ...target, fetch }, sent)
      while (waits()[0] !== 120_000) await Bun.sleep(1)
      expect(timers.size).toBe(1)
      finish()
      expect(await tried).toMatchObject({ status: 200, body: { rows: [] } })

      const never = (_: string, { signal }: RequestInit) =>
        new Promise<Response>((_, reject) => void signal?.addEventListener('abort', () => reject(signal.reason)))
      const unanswered = tryOnce({ ...target, fetch: never }, sent)
      for (const { end } of timers.values()) end()
      expect(await unanswered).toHaveProperty('fault')
    } finally {
      for (const one of [set, clear]) one.mockRestore()
    }
  })
  test('asks for its language in every attempt, and for none by default', async () => {
    const { place } = service(() => Response.json({}))
    const asked: unknown[] = []
    const fetch = (url: string, init: RequestInit) => {
      asked.push(new Headers(init.headers).get('accept-language'))
      return place.fetch(url, init)
    }
    await exchange({ ...place, fetch, language: 'ms' }, sent)
    await exchange({ ...place, fetch }, sent)
    expect(asked).toEqual(['ms', null])
  })

  test('sends one request if the response is final', async () => {
    const { bodies, place } = service(no(400, 'balance_too_low'))
    expect(await exchange(place, sent)).toMatchObject({ refused: { code: 'balance_too_low' } })
    expect(bodies).toHaveLength(1)
  })
  test('without any response ends as unknown, not as refused', async () => {
    const { hasty } = service(lost)
    await expect(exchange(hasty, sent)).rejects.toBeInstanceOf(Unanswered)
  })
  test.each([
    ['chain_unavailable', 503],
    ['too_slow', 408],
    ['sign_in_again', 401],
  ])('security: %s never hides an earlier attempt that may have been processed', async (code, status) => {
    const { hasty } = service(lost, no(status, code))
    await expect(exchange(hasty, sent)).rejects.toBeInstanceOf(Unanswered)
  })
  test('that is refused until the deadline ends as refused', async () => {
    const { bodies, hasty } = service(no(503, 'chain_unavailable'))
    expect(await exchange(hasty, sent)).toMatchObject({ refused: { code: 'chain_unavailable' } })
    expect(bodies.length).toBeGreaterThan(1)
  })
})
