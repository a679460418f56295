import { expect, test } from 'bun:test'
import { isWithin, reaches, withDays, withNewest, withOlder } from './activity'

const item = (id: string, state = 'open') => ({ id, state })

test('an item that a new one pushes off the first page stays in the activity', () => {
  const first = withNewest([], [item('3'), item('2')])
  const all = withOlder(first, [item('1')])
  expect(withNewest(all, [item('4'), item('3')]).map(({ id }) => id)).toEqual(['4', '3', '2', '1'])
})

test('the activity begins again if its first page does not reach the items that are listed', () => {
  const listed = [item('3'), item('2'), item('1')]
  expect(reaches([item('5'), item('4'), item('3', 'paid')], listed)).toBe(true)
  expect(reaches([item('7'), item('6'), item('5')], listed)).toBe(false)
  expect(reaches([item('7')], [])).toBe(true)
})

test('the activity shows each item once, as last read', () => {
  const all = withOlder([item('2'), item('1')], [item('1', 'paid'), item('0')])
  expect(all).toEqual([item('2'), item('1', 'paid'), item('0')])
  expect(withNewest(all, [item('2', 'paid')])[0]).toEqual(item('2', 'paid'))
})

test('each day of the activity has one heading, before its newest item', () => {
  const at = (id: string, createdAt: string) => ({ id, createdAt })
  const items = [at('3', '2026-11-28T20:00:00Z'), at('2', '2026-11-28T01:00:00Z'), at('1', '2026-11-27T23:00:00Z')]
  const rows = withDays(items, (time) => time.slice(0, 10))
  expect(rows.map(({ id }) => id)).toEqual(['2026-11-28', '3', '2', '2026-11-27', '1'])
})

test('a period has the items of its last days', () => {
  const now = Date.parse('2026-11-29T12:00:00Z')
  const [inside, outside] = ['2026-11-22T12:00:00.001Z', '2026-11-22T12:00:00Z']
  expect([isWithin(inside, 7, now), isWithin(outside, 7, now)]).toEqual([true, false])
  expect(isWithin('2020-01-01T00:00:00Z', undefined, now)).toBe(true)
})
