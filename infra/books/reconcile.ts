import { inRoleOfBooks, type Place } from '#infra/ops/place'
import { lasting, type Repeats } from '#infra/ops/record/difference'
import { pause } from '#shared/deadline'
import { openLog } from '#shared/log'
import { type BooksContext, openBooks } from './context'
import { type Judgement, judge } from './judge'
import { readOutside } from './read'
import { breakText } from './text'

/** What was found, and why not all of the outside could be read for it. */
export type Reconciled = Judgement & { readonly unreadable: string | undefined }

/**
 * Reads what is new outside, and compares. With a source that does not answer, everything else is
 * compared all the same, and of that source what was read before.
 */
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

/** Opens the books for one command, which closes them. */
export const openBooksOf = (place: Place, databaseUrl: string) =>
  openBooks({
    ...{ databaseUrl, place, provider: place.provider },
    log: openLog('operator', 'silent'),
    onFatal: () => {},
  })

const readTriesMax = 20
const readAgainMs = 300

/** Reconciles until the outside has been read as far as the rows have changed: blocks take a moment. */
async function reconcileAsRead(books: BooksContext): Promise<Reconciled> {
  let found = await reconcile(books)
  for (let tries = 1; found.unread > 0 && tries < readTriesMax; tries++) {
    await pause(readAgainMs)
    found = await reconcile(books)
  }
  return found
}

/**
 * Everything that does not agree between rows, journals, chain and provider, in words; empty when
 * the books balance. Reconciles until they do, or a difference lasts: what is on its way may be in
 * either state, however young. \`adminUrl\`: Postgres as its owner.
 */
export async function checkBooks(
  place: Place,
  adminUrl: string,
  repeats?: Repeats,
): Promise<string[]> {
  await using books = openBooksOf(place, inRoleOfBooks(adminUrl))
  return await lasting(async () => {
    const { breaks, unread, unreadable } = await reconcileAsRead(books)
    return [
      ...breaks.map(breakText),
      ...(unread > 0 ? ['not everything outside has been read as far as the rows'] : []),
      ...(unreadable === undefined ? [] : [`not everything outside can be read: ${unreadable}`]),
    ]
  }, repeats)
}
