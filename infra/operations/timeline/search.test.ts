import { expect, test } from 'bun:test'
import { criteriaOf, faultInSearch } from './search'

const named = (field: string) => field

test.each(['awaiting_payment', 'awaiting payment', 'Awaiting payment'])(
  'the state %p is found, as tables have it and as the console shows it',
  (state) => {
    expect(faultInSearch({ state }, named)).toBeUndefined()
    expect(criteriaOf({ state }, new Date()).state).toBe('awaiting_payment')
  },
)

test('a channel is found in small letters too', () => {
  expect(criteriaOf({ channel: 'qris' }, new Date()).channel).toBe('QRIS')
})
