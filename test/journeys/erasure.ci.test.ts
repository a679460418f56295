import { expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'
import { verifiedUser } from '../support/people'
import { answered, entryIn } from '../support/requests'
import { operate, sharedStack } from '../support/stack'

test('an operator erases a user, who is then neither known nor verified; a user with a send on its way is refused', async () => {
  const stack = await sharedStack()
  const person = await verifiedUser(stack, { ausdMicro: 5_000_000n })
  okOf(await person.api.setCountry('MY'))
  const erase = (...words: string[]) => operate(stack, 'persons', 'erase', person.wallet, '--by', 'sari', ...words)

  const to = `0x${'77'.repeat(20)}` as const
  const authorization = await person.sign({ to, valueMicro: 1_000_000n })
  const send = await answered(() => person.post('/sends', { authorization }))
  const early = await erase('--reason', 'request', '--apply')
  if (early.code !== 0) expect(early.said).toContain('is not final on chain')
  else expect(early.said).toBe('personal data erased') // In this case the send was already final.
  await entryIn(person, send.body.sendId, 'sent')

  const applied = await waitUntil('an erasure', async () => {
    const answer = await erase('--reason', 'request', '--apply')
    return answer.code === 0 ? answer : undefined
  })
  expect(applied.said).toMatch(/^personal data erased/)
  await waitUntil('the flag being off', async () => {
    const { verified, user } = okOf(await person.api.me())
    return !verified && user.country === null
  })
  const text = JSON.stringify(okOf(await person.api.exportData()).rows)
  expect(text).not.toMatch(/"country":"MY"|"providerRef":"/)
  expect(text).toContain(send.body.sendId)
  expect((await operate(stack, 'persons', 'erased')).said).toContain(person.wallet)
})
