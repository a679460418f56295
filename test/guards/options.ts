/** Which guards are tried. */
export type Options = { readonly only: string | undefined }

export const usage = `bun run prove guards [--only WORD]

  --only   those with this word in their sentence, their kind, their index or their test

The exit code is the verdict: 0 when each guard, taken away, is missed by its test.`

/** Reads the words of a command; throws with a sentence about the first that is wrong. */
export function readOptions(words: readonly string[]): Options {
  const [name, only, ...others] = words
  if (name === undefined) return { only: undefined }
  if (name !== '--only') throw new Error(`${name} is unknown`)
  if (!only) throw new Error('--only wants a word')
  if (others.length > 0) throw new Error(`${others[0]} is unknown`)
  return { only }
}
