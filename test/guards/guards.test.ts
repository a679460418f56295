import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { applied } from './copy'
import { type Edit, type Guard, root, uniqueIndexes } from './guard'
import { judge, patternOf, rowOf } from './judge'
import { guards } from './list/all'
import { ofNoMoney } from './list/indexes'
import { readOptions } from './options'

const texts = new Map<string, string>()
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8')
  texts.set(file, text)
  return text
}

/** Throws at the first edit that does not apply. */
function editAll({ edits, also = [] }: Pick<Guard, 'edits' | 'also'>): Map<string, string> {
  const after = new Map<string, string>()
  const make = (one: Edit) =>
    after.set(one.file, applied(after.get(one.file) ?? textOf(one.file), one))
  for (const one of [...edits, ...also]) make(one)
  return after
}
const faultOf = (guard: Guard): string | undefined => {
  try {
    const changed = [...editAll(guard)].filter(([file, text]) => text !== textOf(file))
    return changed.length > 0 ? undefined : 'nothing is changed'
  } catch (error) {
    return (error as Error).message
  }
}

test('every guard can be removed: its mutation applies to the current sources', () => {
  const faults = guards.flatMap((one) => {
    const fault = faultOf(one)
    return fault ? [`${one.guard}: ${fault}`] : []
  })
  expect(faults).toEqual([])
})

test('every guard is listed once, and its test exists, with its row', () => {
  const named = guards.map(({ guard }) => guard)
  expect(named.filter((one, at) => named.indexOf(one) !== at)).toEqual([])
  // Accepts a literal in whichever quotes.
  const has = (file: string, words: string) =>
    ["'", '"', '`']
      .map((quote) => quote + words + quote)
      .some((literal) => textOf(file).includes(literal))
  const lost = guards.flatMap(({ guard, test: { file, name, row } }) =>
    [name, ...rowOf({ row })]
      .filter((words) => !has(file, words))
      .map((words) => `${guard}: ${file} has no ${words}`),
  )
  expect(lost).toEqual([])
})

test('every unique index is a guard, or has a reason why money does not depend on it', () => {
  const made = uniqueIndexes().map(({ index }) => index)
  const guarded = guards.flatMap(({ index }) => index ?? [])
  const reasoned = Object.keys(ofNoMoney)
  expect(new Set(guarded).isDisjointFrom(new Set(reasoned))).toBe(true)
  expect([...new Set([...guarded, ...reasoned])].toSorted()).toEqual(made.toSorted())
})

describe('the output of a test run', () => {
  const name = 'is paid once'
  const failed = `error: expect(received).toBe(expected)\n(fail) a cash-out > ${name} [9.10ms]\n`
  test.each([
    ['red when it fails by an expectation', failed, 'red'],
    ['red when something did not come', `error: a did not happen within 9 ms\n${failed}`, 'red'],
    [
      'red when its time is over',
      `(fail) a cash-out > ${name} [9ms]\n  ^ this test timed out after 9ms.\n`,
      'red',
    ],
    [
      'red when its time is over and the rest of it fails later',
      `(fail) a cash-out > ${name} [9ms]\n  ^ this test timed out after 9ms.\n# Unhandled error between tests\nerror: boom\n(fail) (unnamed) [9ms]\n`,
      'red',
    ],
    ['green when it passes', `(pass) a cash-out > ${name} [9.10ms]\n`, 'green'],
    ['broken when it throws', `error: boom\n(fail) a cash-out > ${name} [1s]\n`, 'broken'],
    ['broken when its suite cannot begin', 'error: no\n(fail) (unnamed) [9ms]\n', 'broken'],
    [
      'broken when a file cannot be read',
      `# Unhandled error between tests\nerror: Unexpected =\n${failed}`,
      'broken',
    ],
    ['broken when it did not run', 'error: regex "x" matched 0 tests\n', 'broken'],
  ] as const)('%s', (_, said, verdict) => {
    expect(judge(said, [patternOf({ file: '', name })]).is).toBe(verdict)
  })
})

test('a title with placeholders matches by its row, or with any values', () => {
  const named = { file: '', name: 'by %s (held: %p)' }
  const fits = (of: object, text: string) => new RegExp(patternOf({ ...named, ...of })).test(text)
  expect(fits({ row: 'CARDS' }, 'a top-up > by CARDS (held: true)')).toBe(true)
  expect(fits({ row: 'CARDS' }, 'a top-up > by QRIS (held: true)')).toBe(false)
  expect(fits({}, 'a top-up > by QRIS (held: true)')).toBe(true)
  expect(fits({}, 'a top-up > by QRIS (held: true), late')).toBe(false)
})

test.each([
  [[], undefined],
  [['--only', 'inbox'], 'inbox'],
])('the words %p select %p', (words, only) => {
  expect(readOptions(words)).toEqual({ only })
})

test.each([[['--all']], [['--only']], [['--only', 'a', 'b']]])(
  'the words %p are refused',
  (words) => {
    expect(() => readOptions(words)).toThrow()
  },
)
