import { expect, test } from 'bun:test'
import { criteriaOf, faultInSearch, searchFrom, timeFrom } from './search'

const named = (field: string) => field
const now = new Date()

test.each(['awaiting_payment', 'awaiting payment', 'Awaiting payment'])(
  'the state %p is found, as tables have it and as the console shows it',
  (state) => {
    expect(faultInSearch({ state }, named, now)).toBeUndefined()
    expect(criteriaOf({ state }, new Date()).state).toBe('awaiting_payment')
  },
)

test('a channel is found in small letters too', () => {
  expect(criteriaOf({ channel: 'qris' }, new Date()).channel).toBe('QRIS')
})

test('spaces around what was pasted are no part of it', () => {
  const wallet = `0x${'a'.repeat(40)}`
  const search = searchFrom({
    wallet: ` ${wallet}\n`,
    state: 'taken ',
    channel: '\tqris',
    digits: ' 7890',
    from: ' 2026-11-24 ',
  })
  expect(faultInSearch(search, named, now)).toBeUndefined()
  expect(search).toMatchObject({ wallet, state: 'taken', channel: 'qris', digits: '7890', from: '2026-11-24' })
})

test('a receipt is found without the spaces of any kind that an app prints in it, at any time unless a period is given', () => {
  expect(criteriaOf({ receipt: '5218\u00a00214 1667' }, now).receipt).toBe('521802141667')
  expect(criteriaOf({ receipt: '521802141667' }, now).period).toBeUndefined()
  expect(criteriaOf({ receipt: '521802141667', from: '2026-11-24' }, now).period).toBeDefined()
})

test.each([
  ['2026-11-24', '2026-11-23T17:00:00.000Z'],
  ['2026-11-24T02:00Z', '2026-11-24T02:00:00.000Z'],
  ['2026-11-24T09:00:30+08:00', '2026-11-24T01:00:30.000Z'],
])('the time %p is %p', (text, time) => {
  expect(timeFrom(text)?.toISOString()).toBe(time)
})

test.each(['0000-01-01', '0999-12-31T00:00Z', '9999-12-31T23:59-12:00', '2026-02-30', '2026-11-24T02:00'])(
  'the time %p is refused, because Postgres or the calendar has none',
  (text) => {
    expect(timeFrom(text)).toBeUndefined()
  },
)
