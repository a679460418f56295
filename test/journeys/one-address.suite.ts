import { expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openClient, signIn } from '#shared/client/client'
import { groupStack } from '../runner/group'

const people = 100
/** Each start reads the configuration and signs in anew, as an app without a stored session does. */
const starts = 2
const pollsOfAStart = 10

test('100 people behind one address start the app twice and follow it, and none is refused by a limit', async () => {
  const { gateway } = groupStack().info
  const statuses: Record<number, number> = {}
  const fetchFromOneAddress = async (url: string, init: RequestInit) => {
    const headers = { ...(init.headers as Record<string, string>), 'x-forwarded-for': '203.0.113.77' }
    const response = await fetch(url, { ...init, headers })
    statuses[response.status] = (statuses[response.status] ?? 0) + 1
    return response
  }
  const person = async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    for (let start = 0; start < starts; start++) {
      const until = Math.floor(Date.now() / 1_000) + 86_400 + start
      const session = { load: () => signIn(account, until), save: () => {} }
      const target = { baseUrl: gateway, fetch: fetchFromOneAddress, patienceMs: 0 }
      const client = openClient({ ...target, account, session })
      const calls: readonly (() => Promise<unknown>)[] = [client.config, () => client.quote('USD/IDR')]
      const polls = Array.from({ length: pollsOfAStart }, () => [client.me, client.activity]).flat()
      for (const call of [...calls, ...polls]) await call().catch(() => {})
    }
  }
  await Promise.all(Array.from({ length: people }, person))
  const asked = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  expect(asked).toBe(people * starts * (2 + 2 * pollsOfAStart))
  // A machine that is too slow answers some with 503, which is no limit.
  expect(statuses[429] ?? 0).toBe(0)
  expect(statuses[200]).toBeGreaterThan(asked * 0.9)
})
