import { beforeAll, expect, test } from 'bun:test'
import { outsideOf } from '#infra/demo/external'
import { okOf } from '#shared/client/refusal'
import { newUser } from '../support/people'
import { sharedStack } from '../support/stack'

let stack: Awaited<ReturnType<typeof sharedStack>>
beforeAll(async () => {
  stack = await sharedStack()
})

test('GET /me shows the progress of the verification, from none to the flag on the chain', async () => {
  const person = await newUser(stack)
  const outside = outsideOf(stack.info)
  const becomes = (status: string, nextAction: string | null) =>
    person.until(
      `${status}, ${nextAction}`,
      ({ verification }) => [verification.status, verification.nextAction].join() === [status, nextAction].join(),
    )
  await becomes('none', 'verify')
  expect((await person.me()).available).toBe('0')
  expect(okOf(await person.api.verification()).url).toBeString()
  await becomes('started', 'verify')
  await outside.identity(person.wallet, 'pending')
  await becomes('in_review', 'wait')
  await outside.identity(person.wallet, 'retry')
  await becomes('rejected', 'verify')
  await outside.identity(person.wallet, 'approved')
  await becomes('approved', null)
  expect((await person.me()).verified).toBe(true)
  await outside.identity(person.wallet, 'rejected')
  await becomes('rejected', 'contact support')
})
