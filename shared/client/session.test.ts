import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { openSession } from '#shared/client/session'

test('a refused session is forgotten, but not one that was signed since', async () => {
  let signed = 0
  const session = openSession({
    address: '0x1',
    signMessage: async () => `0x${++signed}`,
  })
  const refused = await session.header()
  await session.forget(refused)
  const renewed = await session.header()
  expect(renewed).not.toBe(refused)
  await session.forget(refused)
  expect(await session.header()).toBe(renewed)
  expect(signed).toBe(2)
})

afterEach(() => void setSystemTime())

const account = { address: '0xAb' as const, signMessage: async () => '0x5160' as const }
const endIn = (header: string) => Number(header.split('.')[1])

test('a stored session is used by the next client of the same wallet, until shortly before its end', async () => {
  let stored: string | null | undefined
  const save = (header: string | null) => {
    stored = header
  }
  const store = { load: () => stored, save }
  const header = await openSession(account, store).header()
  expect(stored).toBe(header)
  let signed = 0
  const asked = { ...account, signMessage: async () => `0x${++signed}` as const }
  expect(await openSession(asked, store).header()).toBe(header)
  expect(await openSession({ ...asked, address: '0xCD' }, store).header()).not.toBe(header)
  stored = header
  setSystemTime(endIn(header) * 1_000 - 60_000)
  const later = openSession(asked, store)
  expect(await later.header()).not.toBe(header)
  expect(signed).toBe(2)
  await later.forget(await later.header())
  expect(stored).toBeNull()
})

describe('a store costs no request', () => {
  const fail = () => {
    throw new Error('the operation is insecure')
  }
  test.each([
    ['that throws, as where the browser blocks storage', { load: fail, save: fail }],
    ['whose promises are rejected', { load: async () => fail(), save: async () => fail() }],
  ])('%s', async (_, store) => {
    expect(await openSession(account, store).header()).toContain('0x5160')
  })
})

test('on a device whose date is wrong, the second session ends by the clock of the service', async () => {
  const serverMs = Date.now()
  setSystemTime(serverMs - 2 * 86_400_000)
  const session = openSession(account)
  const refused = await session.header()
  expect(endIn(refused)).toBeLessThan(serverMs / 1_000)
  await session.forget(refused, serverMs)
  expect(endIn(await session.header())).toBe(Math.floor(serverMs / 1_000) + 86_400)
  setSystemTime()
  await session.forget(refused, Date.now())
})
