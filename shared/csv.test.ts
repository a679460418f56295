import { expect, test } from 'bun:test'
import { csvCell } from './csv'

test.each([
  ['=HYPERLINK("https://example.org")', `"'=HYPERLINK(""https://example.org"")"`],
  ['+62 812', "'+62 812"],
  ['-', "'-"],
  ['-1+cmd', "'-1+cmd"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
])('a cell that a spreadsheet would read as a formula is text: %j', (text, cell) => {
  expect(csvCell(text)).toBe(cell)
})

test.each(['-100', '-0.500000', '12', '', 'pay_1', '2026-11-24'])(
  'a number or plain text stays as it is: %j',
  (text) => {
    expect(csvCell(text)).toBe(text)
  },
)

test('a cell with a comma, a quote or a line break is quoted', () => {
  expect(['a,b', 'a"b', 'a\nb'].map(csvCell)).toEqual(['"a,b"', '"a""b"', '"a\nb"'])
})
