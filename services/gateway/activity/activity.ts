import type { Static } from 'typebox'
import type { ActivityAnswer, ActivityEntry } from '#shared/messages/activity'
import { type Cursor, formatCursor } from './cursor.ts'

/** One line of the list as its owner tells it. */
export type Entry = Static<typeof ActivityEntry>
/** The body of `GET /me/activity`. */
export type ActivityPage = {
  readonly inFlight: readonly Omit<Entry, 'inFlight'>[]
  readonly items: readonly Omit<Entry, 'inFlight'>[]
  readonly nextCursor: string | null
}

/**
 * One page from what the owners answered; each was asked for one entry more than the page holds.
 */
export function mergeActivity(
  answers: readonly Static<typeof ActivityAnswer>[],
  limit: number,
): ActivityPage {
  const items = answers.flatMap((answer) => answer.items).sort(newestFirst)
  const page = items.slice(0, limit)
  const last = page.at(-1)
  return {
    inFlight: answers
      .flatMap((answer) => answer.inFlight)
      .sort(newestFirst)
      .map(shown),
    items: page.map(shown),
    nextCursor: items.length > limit && last ? formatCursor(last) : null,
  }
}

/**
 * Both parts compare as text: timestamps are UTC with milliseconds, so text order is time order.
 */
function newestFirst(left: Cursor, right: Cursor): number {
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? 1 : -1
  return left.id < right.id ? 1 : -1
}

/** In which list an entry stands says whether it is in flight. */
function shown({ inFlight: _, ...entry }: Entry): Omit<Entry, 'inFlight'> {
  return entry
}
