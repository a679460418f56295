import { expect } from 'bun:test'
import type { Stack } from '#infra/local/stack'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { readSheet } from '#infra/operations/books/balance-sheet'
import { checkBooks, openBooksOf } from '#infra/operations/books/reconcile'
import { sheetText } from '#infra/operations/cli/books'
import { placeOf } from '#infra/operations/place'
import { urlInRole } from '#platform/db/url'

/** Interval of checks in ms. Each reads the chain, the provider and all rows, which takes half a second of processor time. */
const checkEveryMs = 1_500

/**
 * Checks at the end that the books account for every unit. `onPurpose` matches the breaks that the suite caused, of
 * which the books must report exactly these.
 */
export async function booksClose(stack: Stack, ...onPurpose: RegExp[]): Promise<void> {
  const place = placeOf(stack.info)
  const isMeant = (one: string) => onPurpose.some((words) => words.test(one))
  let breaks: string[] = []
  const onlyMeant = async () => {
    breaks = await checkBooks(place, stack.adminUrl, { checksMax: 1, betweenMs: 0 })
    return breaks.every(isMeant)
  }
  await waitUntil('the books closing', onlyMeant, patienceMs, checkEveryMs).catch(() => {})
  await using books = await openBooksOf(place, urlInRole(stack.adminUrl, 'books'))
  console.log(sheetText(await readSheet(books.sql)))
  expect(breaks.filter((one) => !isMeant(one))).toEqual([])
  for (const words of onPurpose) expect(breaks.some((one) => words.test(one)) || `no break matches ${words}`).toBe(true)
}
