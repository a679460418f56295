import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { newUser } from '../support/people'
import { ownStack } from '../support/stack'

let stack: Stack
let person: Person

beforeAll(async () => {
  stack = await ownStack()
  person = await newUser(stack)
}, 90_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

describe('an attacker makes up the cursor of a list', () => {
  const good = '2026-11-21T06:09:00.000Z'
  const cursorOf = (createdAt: string, id: string) =>
    Buffer.from(JSON.stringify([createdAt, id])).toString('base64url')
  test.each([
    ['a NUL byte in its id', cursorOf(good, 'pay_\0')],
    ['31 February', cursorOf('2026-02-31T00:00:00.000Z', 'pay_1')],
    ['29 February of a common year', cursorOf('2026-02-29T00:00:00.000Z', 'pay_1')],
    ['hour 24', cursorOf('2026-11-21T24:00:00.000Z', 'pay_1')],
    ['the year 0, which Postgres does not know', cursorOf('0000-01-01T00:00:00.000Z', 'pay_1')],
    ['half a surrogate pair', cursorOf(good, 'pay_\ud800')],
  ])('with %s, for a fault inside: 400', async (_, cursor) => {
    const { status, body } = await person.get(`/me/activity?cursor=${cursor}`)
    expect([status, body.error]).toEqual([400, 'cursor is not one that this list gave'])
  })
})
