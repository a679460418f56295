/** Event of what is booked after a reversal. */
export const bookedAgain = 'booked anew'

/** Posting as a list for a user reads it. `reverses` is the posting that a correction reversed. */
export type BookedPosting = {
  readonly posting: string
  readonly reverses: string | null
  readonly event: string
  readonly at: Date
}

/**
 * Leaves out what operators corrected in the postings of one item, in their order: nothing happened to its user then. A
 * posting that was booked again as it was stays at its own time; one that was wrong is replaced by what was booked for it. A
 * correction of an earlier period stays only if it changes an amount, because the list of that period never changes.
 */
export function withoutCorrections<P extends BookedPosting>(
  postings: readonly P[],
  isOpposite: (one: P, other: P) => boolean,
): P[] {
  const left = new Map(postings.map((one) => [one.posting, one]))
  /** Posting that each one which was booked again as it was stands for. */
  const original = new Map<string, string>()
  for (const reversal of postings) {
    if (reversal.reverses === null) continue
    const reversed = original.get(reversal.reverses) ?? reversal.reverses
    const again = [...left.values()].find((one) => one.event === bookedAgain && one.at >= reversal.at)
    if (again && isOpposite(again, reversal)) {
      original.set(again.posting, reversed)
      left.delete(again.posting)
      left.delete(reversal.posting)
    } else if (left.delete(reversed)) left.delete(reversal.posting)
  }
  return [...left.values()]
}
