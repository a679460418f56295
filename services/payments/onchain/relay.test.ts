import { afterAll, expect, test } from 'bun:test'
import { newWallet, openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

test('an alarm is raised by a report about a payment that has no row, and the report is done', async () => {
  const id = `pay_${'x'.repeat(22)}`
  await fixture.settle('credit', id)
  expect(fixture.alarmsOf(id)).toEqual(['relayer report for unknown payment'])
})

test('an alarm is raised by a freeze that the chain refused', async () => {
  const wallet = newWallet()
  await fixture.settle('freeze', `${wallet}:1`, true, wallet)
  expect(fixture.alarmsOf(wallet)).toEqual(['wallet freeze or unfreeze failed'])
})
