import { expect, test } from 'bun:test'
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
