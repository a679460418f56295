import { describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openClient } from '#shared/client/client'
import { Refused, Unanswered } from '#shared/client/refusal'
import {
  type Item,
  type Me,
  NotYet,
  type SingleItem,
  StillInFlight,
  waitForItem,
  waitForMe,
} from '#shared/client/waiting'

const itemOf = (id: string, status: string, inFlight: boolean) => ({ id, status, inFlight }) as SingleItem
const answering = (...answers: (SingleItem | Error)[]) => {
  let asked = 0
  return async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)]!
    if (answer instanceof Error) throw answer
    return answer
  }
}
const [paid, credited] = [itemOf('pay_1', 'paid', true), itemOf('pay_1', 'credited', false)]
const refusedWith = (code: 'sign_in_again' | 'not_found') =>
  new Refused({ code, status: 400, message: 'no', requestId: null })
const quick = { everyMs: 1, deadlineMs: 2_000 }

describe('waitFor', () => {
  test('resolves when the item is no longer in flight, and reports each status once', async () => {
    const told: string[] = []
    const read = answering(paid, paid, credited)
    const onStatus = ({ status }: Item) => told.push(status)
    expect(await waitForItem(read, 'pay_1', { ...quick, onStatus })).toEqual(credited)
    expect(told).toEqual(['paid', 'credited'])
  })
  test('asks for its item only, however long the history is', async () => {
    const asked: string[] = []
    const account = privateKeyToAccount(generatePrivateKey())
    const client = openClient({
      baseUrl: 'http://gateway',
      account,
      fetch: async (url) => {
        asked.push(url)
        const isPage = new URL(url).pathname === '/me/activity'
        const nextCursor = asked.length < 5 ? 'older' : null
        return Response.json(isPage ? { inFlight: [], items: [credited], nextCursor } : credited)
      },
    })
    expect(await client.waitFor('pay_1', quick)).toEqual(credited)
    expect(asked).toEqual(['http://gateway/me/activity/pay_1'])
  })
  test('ends for an unknown id at its deadline', async () => {
    const waiting = waitForItem(answering(refusedWith('not_found')), 'pay_1', {
      everyMs: 1,
      deadlineMs: 20,
    })
    await expect(waiting).rejects.toThrow('pay_1 is not listed after 20 ms')
  })
  test('continues through an outage of the service', async () => {
    const away = new Unanswered('GET /me/activity', 3, undefined)
    const read = answering(paid, away, away, credited)
    expect(await waitForItem(read, 'pay_1', quick)).toEqual(credited)
  })
  test('ends at once with a final refusal', async () => {
    const read = answering(refusedWith('sign_in_again'))
    await expect(waitForItem(read, 'pay_1', quick)).rejects.toBeInstanceOf(Refused)
  })
  test('throws the last seen item after its deadline', async () => {
    const read = answering(paid)
    const waiting = waitForItem(read, 'pay_1', { everyMs: 1, deadlineMs: 20 })
    const error = await waiting.catch((given) => given)
    expect(error).toBeInstanceOf(StillInFlight)
    expect(error.message).toBe('pay_1 is still paid after 20 ms')
  })
  test('ends when its caller aborts', async () => {
    const leave = new AbortController()
    const read = answering(paid)
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
