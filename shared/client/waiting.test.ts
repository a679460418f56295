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

describe('waitFor', () => {
  test('resolves when the item leaves inFlight, and reports each status once', async () => {
    const told: string[] = []
    const read = pages(pageOf([paid], [paid]), pageOf([paid], [paid]), pageOf([], [credited]))
    const onStatus = ({ status }: Item) => told.push(status)
    expect(await waitForItem(read, 'pay_1', { ...quick, onStatus })).toEqual(credited)
    expect(told).toEqual(['paid', 'credited'])
  })
  test('finds an item that has left the first page', async () => {
    const read = async (cursor?: string) =>
      cursor ? pageOf([], [credited]) : pageOf([], [itemOf('pay_2', 'credited')], 'older')
    expect(await waitForItem(read, 'pay_1', quick)).toEqual(credited)
  })
  test('continues through an outage of the service', async () => {
    const away = new Unanswered('GET /me/activity', 3, undefined)
    const read = pages(pageOf([paid], [paid]), away, away, pageOf([], [credited]))
    expect(await waitForItem(read, 'pay_1', quick)).toEqual(credited)
  })
  test('ends at once with a final refusal', async () => {
    const refusal = { code: 'sign_in_again', status: 401, message: 'no', requestId: null } as const
    const read = pages(new Refused(refusal))
    await expect(waitForItem(read, 'pay_1', quick)).rejects.toBeInstanceOf(Refused)
  })
  test('throws the last seen item after its deadline', async () => {
    const read = pages(pageOf([paid], [paid]))
    const waiting = waitForItem(read, 'pay_1', { everyMs: 1, deadlineMs: 20 })
    const error = await waiting.catch((given) => given)
    expect(error).toBeInstanceOf(StillInFlight)
    expect(error.message).toBe('pay_1 is still paid after 20 ms')
  })
  test('ends when its caller aborts', async () => {
    const leave = new AbortController()
    const read = pages(pageOf([paid], [paid]))
    const patience = { ...quick, signal: leave.signal, onStatus: () => leave.abort() }
    await expect(waitForItem(read, 'pay_1', patience)).rejects.toThrow(/abort/i)
  })
})

describe('waitUntil', () => {
  const meOf = (verified: boolean, native: string) => ({ verified, balance: { native } }) as Me
  const isReady = ({ verified, balance }: Me) => verified && balance.native !== '0'

  test('resolves when the account is as awaited, however late its last part arrives', async () => {
    const answers = [meOf(false, '0'), meOf(true, '0'), meOf(true, '5')]
    const read = async () => answers.shift()!
    expect(await waitForMe(read, isReady, quick)).toEqual(meOf(true, '5'))
  })
  test('throws the last seen account after its deadline', async () => {
    const waiting = waitForMe(async () => meOf(true, '0'), isReady, { everyMs: 1, deadlineMs: 20 })
    const error = await waiting.catch((given) => given)
    expect(error).toBeInstanceOf(NotYet)
    expect(error.me).toEqual(meOf(true, '0'))
  })
})
