import type { Place } from '#infra/operations/place'
import { lasting, type Repeats } from '#infra/operations/record/difference'
import { urlInRole } from '#platform/db/url'
import { pause } from '#platform/deadline'
import { openLog } from '#platform/log'
import { type BooksContext, openBooks } from './context'
import { type Judgement, judge } from './judge'
import { readOutside } from './read'
import { breakText } from './text'

/** Result of a comparison. `unreadable` says why a source could not be read. */
export type Reconciled = Judgement & { readonly unreadable: string | undefined }

/**
 * Reads chain and provider, then compares. If a source does not respond, the comparison uses the data read from it
 * before.
 */
export async function reconcile(
  context: BooksContext,
  options: { whole?: boolean; listed?: boolean } = {},
): Promise<Reconciled> {
  const unreadable = await readOutside(context, options).then(
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
 * Compares repeatedly until the books balance or a break persists, because an item in progress may have reached one
 * side only. `adminUrl` connects to Postgres as its owner. Returns the persistent breaks.
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
