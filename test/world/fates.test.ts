import { expect, test } from 'bun:test'
import { fates } from './fates'
import { faultsWith } from './faults'
import { habits } from './people'

test('every name is there once, and contains no comma, which separates the words of an option', () => {
  for (const rows of [fates, habits, faultsWith(new Map())]) {
    const names = rows.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => name.includes(','))).toEqual([])
  }
})
