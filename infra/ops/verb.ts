import type { Say } from '#shared/command'

/** What `bun run ops <verb>` does for one verb; each verb is one module that exports its own. */
export type Verb = {
  /** In a few words, for the list that is printed when no verb is given. */
  does: string
  /** Answers the exit code: 0 when nothing needs a person, 1 when something does, 2 when told wrongly. */
  run: (words: string[], say: Say) => Promise<number>
}
