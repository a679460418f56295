import { expect } from 'bun:test'
import { checkBooks, openBooksOf } from '#infra/books/reconcile'
import { readSheet } from '#infra/books/sheet'
import type { Stack } from '#infra/local/stack'
import { sheetText } from '#infra/ops/books'
import { inRoleOfBooks, placeOf } from '#infra/ops/place'

/**
 * How a suite ends: whatever was done to its stack, the books say where every unit is. Prints the
 * balance sheet. What differs must be what the suite did on purpose, each by the words of its break:
 * then the books name it, and nothing else.
 */
export async function booksClose(stack: Stack, ...onPurpose: RegExp[]): Promise<void> {
  const place = placeOf(stack.info)
  const breaks = await checkBooks(place, stack.adminUrl, { checksMax: 30, betweenMs: 500 })
  await using books = openBooksOf(place, inRoleOfBooks(stack.adminUrl))
  console.log(sheetText(await readSheet(books.sql)))
  expect(breaks.filter((one) => !onPurpose.some((words) => words.test(one)))).toEqual([])
  for (const words of onPurpose) expect(breaks.join('\n')).toMatch(words)
}
