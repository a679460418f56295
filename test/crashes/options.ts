import { kinds, type Path } from './path'

/** What one run tries; all of it is in its last line, so that it can be asked for again. */
export type Options = {
  readonly kind: Path['kind'] | undefined
  readonly pairs: boolean
  /** A word of the boundaries to try. */
  readonly only: string | undefined
  readonly seed: number
  readonly part: { readonly at: number; readonly of: number }
  readonly stacks: number
}

export const usage = `bun run prove crashes [--path ${kinds.join('|')}] [--pairs] [--only WORD] [--part K/N] [--seed S] [--stacks N]

  --path     the paths of one kind; all without it
  --pairs    a kill at one boundary, then at another, in both orders; on cash-outs and settlements
  --only     boundaries with this word in their names; of pairs, those with one such boundary
  --part     the K-th of N parts of the trials, so that a long run can be had in pieces
  --seed     the order of the trials, and so which part has which (1)
  --stacks   how many stacks work at once (2)
  --list     shows every boundary, what has been done there, and the paths that pass it

The exit code is the verdict: 0 when every boundary was met and everything happened exactly once.`

/** Reads the words of a command; throws with a sentence about the first that is wrong. */
export function readOptions(words: readonly string[]): Options {
  const said = new Map<string, string>()
  const rest = words.filter((word) => word !== '--pairs')
  for (let at = 0; at < rest.length; at += 2) {
    const name = rest[at]!
    const value = rest[at + 1]
    if (!/^--(path|only|part|seed|stacks)$/.test(name)) throw new Error(`${name} is unknown`)
    if (value === undefined) throw new Error(`${name} wants a value`)
    said.set(name, value)
  }
  const number = (name: string, otherwise: string, min: number) => {
    const value = Number(said.get(name) ?? otherwise)
    if (!Number.isInteger(value) || value < min)
      throw new Error(`${name} must be a whole number of at least ${min}`)
    return value
  }
  const word = said.get('--path')
  const kind = kinds.find((one) => one === word)
  if (word !== undefined && !kind) throw new Error(`--path must be one of ${kinds.join(', ')}`)
  return {
    ...{ kind, pairs: words.includes('--pairs'), only: said.get('--only') },
    ...{ seed: number('--seed', '1', 0), stacks: number('--stacks', '2', 1) },
    part: partOf(said.get('--part') ?? '1/1'),
  }
}

function partOf(text: string): Options['part'] {
  const [, at, of] = /^([1-9][0-9]*)\/([1-9][0-9]*)$/.exec(text) ?? []
  if (!at || Number(at) > Number(of)) throw new Error('--part must be like 3/10')
  return { at: Number(at), of: Number(of) }
}
