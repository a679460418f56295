import { kinds, type Path } from './paths'

/** Options of a run, which are printed at its end. */
export type Options = {
  readonly kind: Path['kind'] | undefined
  readonly pairs: boolean
  readonly only: string | undefined
  readonly seed: number
  readonly part: { readonly at: number; readonly of: number }
  readonly stacks: number
}

export const usage = `bun run prove crashes [--path ${kinds.join('|')}] [--pairs] [--only WORD] [--part K/N] [--seed S] [--stacks N]

  --path     paths of this kind only (default: all)
  --pairs    two kills per trial, in both orders, on cash-outs and settlements
  --only     boundaries with WORD in their name; with --pairs, pairs with at least one of these
  --part     the K-th of N equal parts of the trials
  --seed     order of the trials, which also decides the parts (default: 1)
  --stacks   stacks that run at the same time (default: 2)
  --list     prints every boundary, the number of paths that pass it, and its meaning

The exit code is 0 if every boundary was reached and every item happened exactly once.`

export function readOptions(words: readonly string[]): Options {
  const said = new Map<string, string>()
  const rest = words.filter((word) => word !== '--pairs')
  for (let at = 0; at < rest.length; at += 2) {
    const name = rest[at]!
    const value = rest[at + 1]
    if (!/^--(path|only|part|seed|stacks)$/.test(name)) throw new Error(`unknown option: ${name}`)
    if (value === undefined) throw new Error(`${name} needs a value`)
    said.set(name, value)
  }
  const number = (name: string, otherwise: string, min: number) => {
    const value = Number(said.get(name) ?? otherwise)
    if (!Number.isInteger(value) || value < min) throw new Error(`${name} must be a whole number of at least ${min}`)
    return value
  }
  const word = said.get('--path')
  const kind = kinds.find((one) => one === word)
  if (word !== undefined && !kind) throw new Error(`--path must be one of ${kinds.join(', ')}`)
  return {
    kind,
    pairs: words.includes('--pairs'),
    only: said.get('--only'),
    seed: number('--seed', '1', 0),
    stacks: number('--stacks', '2', 1),
    part: partOf(said.get('--part') ?? '1/1'),
  }
}

function partOf(text: string): Options['part'] {
  const [, at, of] = /^([1-9][0-9]*)\/([1-9][0-9]*)$/.exec(text) ?? []
  if (!at || Number(at) > Number(of)) throw new Error('--part must be K/N with K up to N, such as 3/10')
  return { at: Number(at), of: Number(of) }
}
