import { expect, test } from 'bun:test'
import { withNewest, withOlder } from './activity'

const item = (id: string, state = 'open') => ({ id, state })

test('an item that a new one pushes off the first page stays in the activity', () => {
  const first = withNewest([], [item('3'), item('2')])
  const all = withOlder(first, [item('1')])
  expect(withNewest(all, [item('4'), item('3')]).map(({ id }) => id)).toEqual(['4', '3', '2', '1'])
})

test('the activity shows each item once, as last read', () => {
  const all = withOlder([item('2'), item('1')], [item('1', 'paid'), item('0')])
  expect(all).toEqual([item('2'), item('1', 'paid'), item('0')])
  expect(withNewest(all, [item('2', 'paid')])[0]).toEqual(item('2', 'paid'))
})
