import { expect, test } from 'bun:test'
import { unasked } from '#infra/operations/cli/command'
import { Faulted, Unavailable } from '#platform/bus/ask'
import { DeadlinePassed } from '#platform/deadline'

test.each([
  ['is not running', new Unavailable('payouts is not running')],
  ['is silent', new DeadlinePassed('payouts.account.find', 10_000)],
  ['fails', new Faulted('payouts.account.find failed')],
])('a command that has to ask a service first reports that nothing was done if the service %s', (_, cause) => {
  expect(() => unasked(cause)).toThrow(
    expect.objectContaining({
      message: 'a service has to be asked first, and did not answer: nothing was done. Run the same command again',
      cause,
    }),
  )
})

test('any other error of a command stays as it is', () => {
  const error = new Error('no cash-out has this id')
  expect(() => unasked(error)).toThrow(error)
})
