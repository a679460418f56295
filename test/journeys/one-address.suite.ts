import { expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signIn } from '#shared/client/client'
import { groupStack } from '../runner/group'

const people = 100
/** Each start reads the configuration and signs in anew, as an app without a stored session does. */
const starts = 2
const pollsOfAStart = 10

test('100 people behind one address start the app twice and follow it, and none is refused by a limit', async () => {
  const { gateway } = groupStack().info
  const statuses: Record<number, number> = {}
  const call = async (path: string, headers: Record<string, string> = {}, body?: string) => {
    const response = await fetch(`${gateway}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-forwarded-for': '203.0.113.77', ...headers },
      ...(body && { body }),
    })
    await response.arrayBuffer()
    statuses[response.status] = (statuses[response.status] ?? 0) + 1
  }
  const person = async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    for (let start = 0; start < starts; start++) {
      await call('/config')
      const authorization = await signIn(account, Math.floor(Date.now() / 1_000) + 86_400 + start)
      await call('/quote', { authorization, 'content-type': 'application/json' }, '{"pair":"USD/IDR"}')
      for (let poll = 0; poll < pollsOfAStart; poll++) {
        await call('/me', { authorization })
        await call('/me/activity', { authorization })
      }
    }
  }
  await Promise.all(Array.from({ length: people }, person))
  const asked = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  expect(asked).toBe(people * starts * (2 + 2 * pollsOfAStart))
  // A machine that is too slow answers some with 503, which is no limit.
  expect(statuses[429] ?? 0).toBe(0)
  expect(statuses[200]).toBeGreaterThan(asked * 0.9)
})
