import { expect, test } from 'bun:test'
import { slopeOf } from './slope'

const points = (...values: number[]) => values.map((value, at) => ({ at, value }))

test.each([
  ['grows by 2 at each step', points(1, 3, 5, 7), 2],
  ['stays', points(4, 4, 4), 0],
  ['shrinks', points(6, 5, 4), -1],
  ['goes up and down evenly', points(1, 3, 3, 1), 0],
  ['is one jump', points(0, 0, 3, 3), 1.2],
])('the slope of a line that %s', (_, line, slope) => {
  expect(slopeOf(line)).toBeCloseTo(slope, 12)
})

test('a single sample has no slope', () => {
  expect(slopeOf([])).toBeNaN()
  expect(slopeOf(points(7))).toBeNaN()
})
