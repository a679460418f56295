import type { Pair } from '#shared/money/pair'
import type { Sighting } from './rate.ts'

/** Where rates come from. What a source answers is untrusted: it is read by a schema or refused. */
export type RateSource = {
  readonly name: string
  readonly pairs: readonly Pair[]
  /** Asks once, under a deadline. Throws when the answer is anything but a rate for this pair. */
  readonly ask: (pair: Pair) => Promise<Sighting>
}
