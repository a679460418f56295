/** What `bun run prove conformance` was asked for. */
export type Arguments = {
  readonly target: 'sandbox' | 'test-mode'
  /** How long a person is given to pay; null when nobody is there. */
  readonly payerMs: number | null
  /** Only suites whose name contains this; null: all. */
  readonly only: string | null
}

/** How it is called, for whoever called it otherwise. */
export const usage =
  'bun run prove conformance [--target sandbox|test-mode] [--interactive] [--minutes 10] [--suite <text>]'

/** Reads the words behind the command; a fault names the word that is not understood. */
export function argumentsFrom(words: readonly string[]): Arguments | { fault: string } {
  let target: Arguments['target'] = 'sandbox'
  let only: string | null = null
  let interactive = false
  let minutes = 10
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--interactive') {
      interactive = true
      continue
    }
    const value = rest.shift() ?? ''
    if (word === '--target' && (value === 'sandbox' || value === 'test-mode')) target = value
    else if (word === '--minutes' && /^[1-9][0-9]?$/.test(value)) minutes = Number(value)
    else if (word === '--suite' && value !== '') only = value
    else return { fault: `not understood: ${word} ${value}`.trim() }
  }
  return { target, payerMs: interactive ? minutes * 60_000 : null, only }
}
