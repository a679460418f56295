import { describe, expect, test } from 'bun:test'
import { type AnswerPatience, type Ask, askOr, Faulted, Unavailable } from '#platform/bus/ask'
import { DeadlinePassed } from '#platform/deadline'
import { QuoteFind } from '#shared/messages/pricing'

const failing =
  (error: Error): Ask =>
  async () => {
    throw error
  }
const find = (ask: Ask) => askOr(ask, QuoteFind, { quoteId: 'q', requestFingerprint: 't' }, 'rate_unavailable', 1_500)

describe('a request without a response', () => {
  test.each([
    ['nobody listens', new Unavailable('pricing is not there')],
    ['the other side failed', new Faulted('pricing failed')],
    ['no answer came in time', new DeadlinePassed('pricing', 1_500)],
  ])('is refused as unavailable if %s', async (_what, error) => {
    expect(await find(failing(error))).toEqual({ refused: 'rate_unavailable' })
  })

  test("a request returns the other side's response, including a refusal, within the deadline", async () => {
    let waited: AnswerPatience | undefined
    const ask = (async (_question, _request, patience) => {
      waited = patience
      return { refused: 'quote_unknown' }
    }) as Ask
    expect(await find(ask)).toEqual({ refused: 'quote_unknown' })
    expect(waited).toBe(1_500)
  })

  test('an own bug is not hidden as an outage', async () => {
    await expect(find(failing(new TypeError('a bug')))).rejects.toThrow('a bug')
  })
})
