/** What one campaign is; all of it is in its report, so that it can be asked for again. */
export type Options = {
  /** The order of faults and what people do follow it; when things meet does not. */
  readonly seed: number
  readonly minutes: number
  readonly people: number
  /** A commit whose services are the first copies, until they are stopped one by one; null: none. */
  readonly upgradeFrom: string | null
  /** Only faults with one of these words in their names; empty: all. */
  readonly faults: readonly string[]
  /** Only what people do with one of these words in its name; empty: all. */
  readonly flows: readonly string[]
  /** So long after the last fault everything must have come to its end. */
  readonly quietSeconds: number
}

export const usage = `bun run prove campaign [--seed N] [--minutes M] [--people P] [--upgrade-from COMMIT]
                       [--faults WORDS] [--flows WORDS] [--quiet SECONDS]

  --seed           which faults, in which order, and who does what (1)
  --minutes        how long there are faults; quiet and the audit follow (1)
  --people         users at the same time (24)
  --upgrade-from   services of this commit run beside this one's and are replaced in mid-flow;
                   without it every tenth seed upgrades from HEAD^
  --faults         only those with these words in their names, or these: "killed,is cut"
  --flows          only what people do with these words in its name: "cash-out,send"
  --quiet          how long after the last fault nothing may come to its end before it is judged (240)

The exit code is the verdict: 0 when nothing was lost, doubled or left unexplained.`

/** Reads the words of a command; throws with a sentence about the first that is wrong. */
export function readOptions(words: readonly string[]): Options {
  const said = new Map<string, string>()
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at]!
    const value = words[at + 1]
    if (!/^--(seed|minutes|people|upgrade-from|faults|flows|quiet)$/.test(name))
      throw new Error(`${name} is unknown`)
    if (value === undefined) throw new Error(`${name} wants a value`)
    said.set(name, value)
  }
  const number = (name: string, otherwise: number, min: number) => {
    const value = Number(said.get(name) ?? otherwise)
    if (!(value >= min)) throw new Error(`${name} must be a number of at least ${min}`)
    return value
  }
  const wordsOf = (name: string) => (said.get(name) ?? '').split(',').filter((one) => one !== '')
  const seed = number('--seed', 1, 0)
  return {
    seed,
    minutes: number('--minutes', 1, 0.1),
    people: number('--people', 24, 1),
    upgradeFrom: said.get('--upgrade-from') ?? (seed % 10 === 0 && seed > 0 ? 'HEAD^' : null),
    faults: wordsOf('--faults'),
    flows: wordsOf('--flows'),
    quietSeconds: number('--quiet', 240, 1),
  }
}
