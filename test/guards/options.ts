export type Options = { readonly only: string | undefined }

export const usage = `bun run prove guards [--only WORD]

  --only   guards with WORD in their name, or in the name of the test, race or engine that must notice

Exit code 0: each guard that was taken out was noticed.`

export function readOptions(words: readonly string[]): Options {
  const [name, only, ...others] = words
  if (name === undefined) return { only: undefined }
  if (name !== '--only') throw new Error(`${name} is unknown`)
  if (!only) throw new Error('--only needs a word')
  if (others.length > 0) throw new Error(`${others[0]} is unknown`)
  return { only }
}
