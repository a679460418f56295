import { describe, expect, test } from 'bun:test'
import { Refused, Unanswered } from '#shared/client/refusal'
import {
  type Activity,
  type Item,
  type Me,
  NotYet,
  StillInFlight,
  waitForItem,
  waitForMe,
} from '#shared/client/waiting'

const itemOf = (id: string, status: string) => ({ id, status }) as Item
const pageOf = (inFlight: Item[], items: Item[], nextCursor: string | null = null): Activity => ({
  ...{ inFlight, items, nextCursor },
})
/** Answers in turn, the last for ever. */
const pages = (...answers: (Activity | Error)[]) => {
  let asked = 0
  return async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)]!
    if (answer instanceof Error) throw answer
    return answer
  }
}
const [paid, credited] = [itemOf('pay_1', 'paid'), itemOf('pay_1', 'credited')]
const quick = { everyMs: 1, deadlineMs: 2_000 }

describe('waiting for an item', () => {
  test('ends when it is in flight no longer, having told each status once', async () => {
    const told: string[] = []
    const read = pages(pageOf([paid], [paid]), pageOf([paid], [paid]), pageOf([], [credited]))
    const onStatus = ({ status }: Item) => told.push(status)
    expect(await waitForItem(read, 'pay_1', { ...quick, onStatus })).toEqual(credited)
    expect(told).toEqual(['paid', 'credited'])
  })
  test('finds one that has left the first page', async () => {
    const read = async (cursor?: string) =>
      cursor ? pageOf([], [credited]) : pageOf([], [itemOf('pay_2', 'credited')], 'older')
    expect(await waitForItem(read, 'pay_1', quick)).toEqual(credited)
  })
  test('outlasts a service that is away', async () => {
    const away = new Unanswered('GET /me/activity', 3, undefined)
    const read = pages(pageOf([paid], [paid]), away, away, pageOf([], [credited]))
    expect(await waitForItem(read, 'pay_1', quick)).toEqual(credited)
  })
  test('ends at once with a no that will stay', async () => {
    const refusal = { code: 'sign_in_again', status: 401, message: 'no', requestId: null } as const
    const read = pages(new Refused(refusal))
    await expect(waitForItem(read, 'pay_1', quick)).rejects.toBeInstanceOf(Refused)
  })
  test('says past its deadline what was seen last', async () => {
    const read = pages(pageOf([paid], [paid]))
    const waiting = waitForItem(read, 'pay_1', { everyMs: 1, deadlineMs: 20 })
    const error = await waiting.catch((given) => given)
    expect(error).toBeInstanceOf(StillInFlight)
    expect(error.message).toBe('pay_1 is still paid after 20 ms')
  })
  test('ends when the caller says so', async () => {
    const leave = new AbortController()
    const read = pages(pageOf([paid], [paid]))
    const patience = { ...quick, signal: leave.signal, onStatus: () => leave.abort() }
    await expect(waitForItem(read, 'pay_1', patience)).rejects.toThrow(/abort/i)
  })
})

describe('waiting for the account', () => {
  const meOf = (verified: boolean, native: string) => ({ verified, balance: { native } }) as Me
  const isReady = ({ verified, balance }: Me) => verified && balance.native !== '0'

  test('ends when it is as awaited, however late the last part of it comes', async () => {
    const answers = [meOf(false, '0'), meOf(true, '0'), meOf(true, '5')]
    const read = async () => answers.shift()!
    expect(await waitForMe(read, isReady, quick)).toEqual(meOf(true, '5'))
  })
  test('says past its deadline what was seen last', async () => {
    const waiting = waitForMe(async () => meOf(true, '0'), isReady, { everyMs: 1, deadlineMs: 20 })
    const error = await waiting.catch((given) => given)
    expect(error).toBeInstanceOf(NotYet)
    expect(error.me).toEqual(meOf(true, '0'))
  })
})
