import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Outside, outsideOf } from '#infra/demo/outside'
import type { Stack } from '#infra/local/stack'
import { newUser } from '../support/people'
import { ownStack } from '../support/stack'

let stack: Stack
let outside: Outside
const persona = { IDENTITY_PROVIDER: 'persona', IDENTITY_LEVEL: 'itmpl_local' }

beforeAll(async () => {
  stack = await ownStack({ env: { gateway: persona, sandbox: persona } })
  outside = outsideOf(stack.info)
})
afterAll(() => stack?.[Symbol.asyncDispose]())

describe('with Persona as the identity provider', () => {
  test('a user gets a hosted link, is verified when approved, and loses the flag when declined', async () => {
    const person = await newUser(stack)
    const link = await person.insist('/me/verification', {})
    expect(link).toMatchObject({ status: 200, body: { verified: false } })
    expect((await fetch(link.body.url)).status).toBe(200)
    await outside.identity(person.wallet, 'approved')
    await person.until('verification', (me) => me.verified)
    await outside.identity(person.wallet, 'rejected')
    await person.until('withdrawal', (me) => !me.verified)
  })
})
