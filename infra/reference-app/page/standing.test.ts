import { expect, test } from 'bun:test'
import { activityStatuses } from '#shared/messages/activity'
import { isOfStanding, type Standing, standings } from './standing'

type Shown = Parameters<typeof isOfStanding>[0]
const standingsOf = (item: Shown, isInFlight: boolean): Standing[] =>
  standings.filter((one) => isOfStanding(item, isInFlight, one))

test.each<[string, Shown, boolean, Standing[]]>([
  [
    'an open checkout needs the user, and is in progress',
    { kind: 'topup', status: 'awaiting_payment', nextAction: 'pay' },
    true,
    ['needsYou', 'inProgress'],
  ],
  [
    'a paid top-up is in progress, and needs nobody',
    { kind: 'topup', status: 'paid', nextAction: 'wait' },
    true,
    ['inProgress'],
  ],
  ['a paid cash-out is done', { kind: 'cashout', status: 'paid', nextAction: null }, false, ['done']],
  ['an expired checkout has ended', { kind: 'topup', status: 'expired', nextAction: null }, false, ['ended']],
  [
    'an expired checkout that was paid late is in progress',
    { kind: 'topup', status: 'expired', nextAction: 'wait' },
    true,
    ['inProgress'],
  ],
  [
    'a payment in review is in progress, also with its effect on the chain',
    { kind: 'topup', status: 'review', nextAction: 'contact support' },
    false,
    ['needsYou', 'inProgress'],
  ],
  [
    'a failed automatic repayment has ended',
    { kind: 'autorepay', status: 'failed', nextAction: null },
    false,
    ['ended'],
  ],
  [
    'a status that the page does not know yet is under everything alone',
    { kind: 'topup', status: 'unheard_of' as Shown['status'], nextAction: null },
    false,
    [],
  ],
])('%s', (_, item, isInFlight, expected) => {
  expect(standingsOf(item, isInFlight)).toEqual(expected)
})

test('every status of every kind is in one place', () => {
  const all = Object.entries(activityStatuses).flatMap(([kind, statuses]) =>
    statuses.map((status) => standingsOf({ kind, status, nextAction: null } as Shown, false).length),
  )
  expect(new Set(all)).toEqual(new Set([1]))
})
