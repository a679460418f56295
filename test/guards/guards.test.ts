import { describe, expect, test } from 'bun:test'
import { indexGuards, indexOf, ofNoMoney, uniqueIndexes } from './indexes'
import { judge, patternOf } from './judge'
import { marksIn, testIn, textOf } from './marks'
import { codeOf, guards, type Mutant, mutants, uniqueTest, withoutGuards } from './mutants'
import { mutations } from './mutations'
import { always, dropped, followed, instead, leftOut, never, type Operator, preceded, without } from './operators'
import { readOptions } from './options'

const faultOf = (mutant: Mutant): string | undefined => {
  try {
    withoutGuards(mutant.guards)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('every guard can be taken out: its marks are in the sources, and its operators fit them', () => {
  const faults = mutants.flatMap((one) => {
    const fault = faultOf(one)
    return fault ? [`${one.guards.join(', ')}: ${fault}`] : []
  })
  expect(faults).toEqual([])
})

test('every guard has a test, a race or an engine that must notice that it is missing', () => {
  const proven = new Set(mutants.flatMap((one) => one.guards))
  expect([...guards].filter((guard) => !proven.has(guard))).toEqual([])
})

test('every operator in the table is of a guard, and does more than to leave out the marked code', () => {
  const rows = Object.entries(mutations)
  expect(rows.filter(([guard]) => !guards.has(guard)).map(([guard]) => guard)).toEqual([])
  const isIdle = (code: string, operator: Operator) => ['', leftOut(code)].includes(operator(code))
  const isNeedless = ([guard, by]: (typeof rows)[number]) =>
    codeOf(guard).every((code, at) => isIdle(code, typeof by === 'function' ? by : by[at]!))
  expect(rows.filter(isNeedless).map(([guard]) => guard)).toEqual([])
})

test('every unique index is a guard, or has a reason why money does not depend on it', () => {
  const made = uniqueIndexes().map(({ index }) => `unique index ${index}`)
  const reasoned = Object.keys(ofNoMoney).map((index) => `unique index ${index}`)
  expect([...indexGuards, ...reasoned].toSorted()).toEqual(made.toSorted())
})

test('every unique index that is a guard is a row of the test of unique indexes', () => {
  const text = textOf(uniqueTest.file)
  const named = [uniqueTest.name, ...indexGuards.map(indexOf)]
  expect(named.filter((words) => !text.includes(`'${words}'`))).toEqual([])
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
    expect(judge(said, [patternOf({ name, row: [] })]).is).toBe(verdict)
  })
})

test('a title with placeholders matches by its row, or with any values', () => {
  const fits = (row: readonly string[], text: string) =>
    new RegExp(patternOf({ name: 'by %s (held: %p)', row })).test(text)
  expect(fits(['CARDS'], 'a top-up > by CARDS (held: true)')).toBe(true)
  expect(fits(['CARDS'], 'a top-up > by QRIS (held: true)')).toBe(false)
  expect(fits([], 'a top-up > by QRIS (held: true)')).toBe(true)
  expect(fits([], 'a top-up > by QRIS (held: true), late')).toBe(false)
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

test('a mark names the guards that are taken out together', () => {
  const text = '// guard: a\n// together with: b\n// guard: c\ntest(d)\n'
  expect(marksIn(text).map(({ words, others }) => [words, ...others])).toEqual([['a', 'b'], ['c']])
})

test.each([
  ['a test', `test('is paid', () => {})`, '', 'is paid', []],
  ['a test with its title on the next line', `test(\n  "the user's",\n  () => {})`, '', "the user's", []],
  ['a table of tests', `test.each([\n  ['a', 1],\n])('%s is paid', () => {})`, '', '%s is paid', []],
  ['a row', `  ['a', 1],\n`, `  ['b', 2],\n])('%s is paid', () => {})`, '%s is paid', ['a']],
  ['a row with two texts', `  ['a', 'b', 'c'],\n`, `])('%s of %s: %p', () => {})`, '%s of %s: %p', ['a', 'b']],
  ['a row of many lines', `  [\n    'a',\n    f(1),\n  ],\n`, `] as const)(\n  '%s of %s',`, '%s of %s', ['a']],
  ['a row that is a text', `  'a',\n`, `])('%s is paid', () => {})`, '%s is paid', ['a']],
  ['a row that begins with a number', `  [1, 'a'],\n`, `])('%d of %s', () => {})`, '%d of %s', []],
])('the test below a mark is read from %s', (_, code, below, name, row) => {
  expect(testIn(code, below)).toEqual({ name, row })
})

test('a mark above anything but a test or a row of its table names no test', () => {
  const below = `test.each([['a']])('%s is paid', () => {})`
  expect(testIn('beforeAll(() => {})', below)).toBeUndefined()
  expect(testIn(`['a'],`, '')).toBeUndefined()
})

test.each<[string, Operator, string, string]>([
  ['drops code', dropped, 'lock(tx)\n', ''],
  ['leaves out code', leftOut, 'lock(tx)\n', ''],
  ['never enters an if that is left out', leftOut, 'if (a) {\n  b()\n} else c()', 'if (false) {\n  b()\n} else c()'],
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
