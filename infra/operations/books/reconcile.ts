import type { Place } from '#infra/operations/place'
import { lasting, type Repeats } from '#infra/operations/record/difference'
import { urlInRole } from '#platform/db/url'
import { pause } from '#platform/deadline'
import { openLog } from '#platform/log'
import { type BooksContext, openBooks } from './context'
import { type Judgement, judge } from './judge'
import { readOutside } from './read'
import { breakText } from './text'

/** `unreadable`: why a source could not be read. */
export type Reconciled = Judgement & { readonly unreadable: string | undefined }

/** If a source does not respond, compares with the data read from it before. */
export async function reconcile(
  context: BooksContext,
  options: { whole?: boolean; listed?: boolean } = {},
): Promise<Reconciled> {
  const unreadable = await readOutside(context).then(
    () => undefined,
    (error: Error) => error.message,
  )
  return { ...(await judge(context.sql, options)), unreadable }
}

export const openBooksOf = (place: Place, databaseUrl: string) =>
  openBooks({ databaseUrl, place, log: openLog('operator', 'silent'), onFatal: () => {} })

const readTriesMax = 20
const readAgainMs = 300

async function reconcileAsRead(books: BooksContext): Promise<Reconciled> {
  let found = await reconcile(books)
  for (let tries = 1; found.unread > 0 && tries < readTriesMax; tries++) {
    await pause(readAgainMs)
    found = await reconcile(books)
  }
  return found
}

/**
 * Repeats until the books balance or a break persists, because items in progress can be in either
 * state. `adminUrl`: Postgres as its owner.
 */
export async function checkBooks(place: Place, adminUrl: string, repeats?: Repeats): Promise<string[]> {
  await using books = await openBooksOf(place, urlInRole(adminUrl, 'books'))
  return await lasting(async () => {
    const { breaks, unread, unreadable } = await reconcileAsRead(books)
    return [
      ...breaks.map(breakText),
      ...(unread > 0 ? ['chain and provider are not read up to the latest rows yet'] : []),
      ...(unreadable === undefined ? [] : [`chain or provider cannot be read: ${unreadable}`]),
    ]
  }, repeats)
}
