import type { Topology } from './drivers/stack'

/** Options of a campaign, which the report contains so that it can be repeated. */
export type Options = {
  /** Seed of the order of faults and of the users' choices, but not of their timing. */
  readonly seed: number
  readonly minutes: number
  readonly people: number
  /** Commit of the first instances, which are stopped one by one. */
  readonly upgradeFrom: string | null
  readonly topology: Topology
  /** Words of which the name of a fault must contain one; all faults if empty. */
  readonly faults: readonly string[]
  /** Words of which the name of a flow must contain one; all flows if empty. */
  readonly flows: readonly string[]
  /** Time in seconds without a completed item after which pending items are findings. */
  readonly quietSeconds: number
}

export const usage = `bun run prove campaign [--seed N] [--minutes M] [--people P] [--upgrade-from COMMIT]
                       [--topology one|copies] [--faults WORDS] [--flows WORDS] [--quiet SECONDS]

  --seed           order of faults and choices of users (default: 1)
  --minutes        duration of the faults; the audit follows (default: 1)
  --people         number of users (default: 24)
  --upgrade-from   commit whose services start as first instances and are stopped during the run;
                   default: HEAD^ for every tenth seed, otherwise none
  --topology       one instance of each service, or two with faulty connections (default: copies)
  --faults         faults with any of these words in their names, such as "killed,are cut"
  --flows          user flows with any of these words in their names, such as "cash-out,send"
  --quiet          seconds without any item completing before the audit is final (default: 240)

The exit code is 0 if nothing was lost, doubled or unexplained.`

export function readOptions(words: readonly string[]): Options {
  const said = new Map<string, string>()
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at]!
    const value = words[at + 1]
    if (!/^--(seed|minutes|people|upgrade-from|topology|faults|flows|quiet)$/.test(name))
      throw new Error(`unknown option: ${name}`)
    if (value === undefined) throw new Error(`${name} needs a value`)
    said.set(name, value)
  }
  const number = (name: string, otherwise: number, min: number) => {
    const value = Number(said.get(name) ?? otherwise)
    if (!(value >= min)) throw new Error(`${name} must be a number of at least ${min}`)
    return value
  }
  const wordsOf = (name: string) => (said.get(name) ?? '').split(',').filter((one) => one !== '')
  const seed = number('--seed', 1, 0)
  const topology = said.get('--topology') ?? 'copies'
  if (topology !== 'one' && topology !== 'copies') throw new Error('--topology must be one or copies')
  return {
    seed,
    minutes: number('--minutes', 1, 0.1),
    people: number('--people', 24, 1),
    upgradeFrom: said.get('--upgrade-from') ?? (seed % 10 === 0 && seed > 0 && topology === 'copies' ? 'HEAD^' : null),
    topology: topology === 'one' ? 'one' : 'copies behind wires',
    faults: wordsOf('--faults'),
    flows: wordsOf('--flows'),
    quietSeconds: number('--quiet', 240, 1),
  }
}
