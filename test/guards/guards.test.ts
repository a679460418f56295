import { describe, expect, test } from 'bun:test'
import { type Guard, uniqueIndexes } from './guard'
import { judge, patternOf, rowOf } from './judge'
import { guards } from './list/all'
import { ofNoMoney } from './list/indexes'
import { findMarks, marksIn } from './marks'
import { textOf, withoutGuard } from './mutations'
import { always, dropped, followed, instead, never, type Operator, preceded, without } from './operators'
import { readOptions } from './options'

const faultOf = (guard: Guard): string | undefined => {
  try {
    withoutGuard(guard)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('every guard can be taken out: its marks are in the sources, and its operators fit them', () => {
  const faults = guards.flatMap((one) => {
    const fault = faultOf(one)
    return fault ? [`${one.guard}: ${fault}`] : []
  })
  expect(faults).toEqual([])
})

test('every mark in the sources is of a guard with a test', () => {
  const named = new Set(guards.map(({ guard }) => guard))
  expect([...findMarks().keys()].filter((words) => !named.has(words))).toEqual([])
})

test('every guard is listed once, and its test exists, with its row', () => {
  const named = guards.map(({ guard }) => guard)
  expect(named.filter((one, at) => named.indexOf(one) !== at)).toEqual([])
  // A literal is accepted in whichever quotes.
  const has = (file: string, words: string) =>
    ["'", '"', '`'].map((quote) => quote + words + quote).some((literal) => textOf(file).includes(literal))
  const lost = guards.flatMap(({ guard, test: { file, name, row } }) =>
    [name, ...rowOf({ row })].filter((words) => !has(file, words)).map((words) => `${guard}: ${file} has no ${words}`),
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
    ['red when its time is over', `(fail) a cash-out > ${name} [9ms]\n  ^ this test timed out after 9ms.\n`, 'red'],
    [
      'red when its time is over and the rest of it fails later',
      `(fail) a cash-out > ${name} [9ms]\n  ^ this test timed out after 9ms.\n# Unhandled error between tests\nerror: boom\n(fail) (unnamed) [9ms]\n`,
      'red',
    ],
    ['green when it passes', `(pass) a cash-out > ${name} [9.10ms]\n`, 'green'],
    ['broken when it throws', `error: boom\n(fail) a cash-out > ${name} [1s]\n`, 'broken'],
    ['broken when its suite cannot begin', 'error: no\n(fail) (unnamed) [9ms]\n', 'broken'],
    ['broken when a file cannot be read', `# Unhandled error between tests\nerror: Unexpected =\n${failed}`, 'broken'],
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

test.each([[['--all']], [['--only']], [['--only', 'a', 'b']]])('the words %p are refused', (words) => {
  expect(() => readOptions(words)).toThrow()
})

test('the marked code is a line, the deeper lines below it and the line that closes it', () => {
  const text = '  // guard: b is checked\n  // guard: once\n  if (\n    b\n  ) {\n    c()\n  }\n  d()\n'
  const codes = marksIn(text).map(({ words, from, to }) => [words, text.slice(from, to)])
  const code = '  if (\n    b\n  ) {\n    c()\n  }\n'
  expect(codes).toEqual([
    ['b is checked', code],
    ['once', code],
  ])
})

test.each<[string, Operator, string, string]>([
  ['drops code', dropped, 'lock(tx)\n', ''],
  ['makes a condition false', never, '  if (isA(b) && c) return d', '  if (false) return d'],
  ['makes a condition true', always, 'return a.b(c) ? d : e', 'return true ? d : e'],
  ['makes a value true', always, 'const a = (b: C) => b > c\n', 'const a = (b: C) => true\n'],
  ['makes an argument true', always, 'const a = b.filter((c) => c > d)', 'const a = b.filter((c) => true)'],
  ['leaves out an operand', without('c'), 'if (a || (b && c(d)) || e)', 'if (a || (b) || e)'],
  ['leaves out the last operand', without('c(1)'), 'const a = b - c(1)\n', 'const a = b\n'],
  ['leaves out the last operand of an argument', without('c'), 'f(a - b - c, d)', 'f(a - b, d)'],
  ['leaves out a field', without('b.c'), 'if (a || b.c) return', 'if (a) return'],
  ['leaves out an argument', without('c'), 'and(a, eq(b, 1), c(d))', 'and(a, eq(b, 1))'],
  ['leaves out a property', without('b'), 'f({ b: g(1, 2), d })', 'f({ d })'],
  ['leaves out a method call', without('for'), "(await a.where(b).for('update'))[0]", '(await a.where(b))[0]'],
  ['leaves out a condition of SQL', without('b <'), 'sql`where a > 1 and b < now()`', 'sql`where a > 1`'],
  ['replaces words', instead('b', 'c'), 'a(b)', 'a(c)'],
  ['puts code before', preceded('a()'), 'b()\n', 'a()\nb()\n'],
  ['puts code after', followed('a()'), 'b()\n', 'b()\na()\n'],
])('an operator %s', (_, operator, code, after) => {
  expect(operator(code)).toBe(after)
})

test('an operator refuses words that the code does not have once', () => {
  expect(() => instead('b', 'c')('a')).toThrow('0 occurrences')
  expect(() => without('a')('a(a)')).toThrow('2 occurrences')
})
