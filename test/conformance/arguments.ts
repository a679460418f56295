export type Arguments = {
  readonly target: 'sandbox' | 'test-mode' | 'live-read-only'
  /** Time of a payer in ms, or null without a payer. */
  readonly payerMs: number | null
  /** Part of a suite's name, or null for all suites. */
  readonly only: string | null
}

export const usage =
  'bun run prove conformance [--target sandbox|test-mode] [--interactive] [--minutes 10] [--suite <text>]\n' +
  'bun run prove conformance --live-read-only [--suite <text>]'

/** Parses arguments. The fault names the invalid one. */
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
    if (word === '--live-read-only') {
      target = 'live-read-only'
      continue
    }
    const value = rest.shift() ?? ''
    if (word === '--target' && (value === 'sandbox' || value === 'test-mode')) target = value
    else if (word === '--minutes' && /^[1-9][0-9]?$/.test(value)) minutes = Number(value)
    else if (word === '--suite' && value !== '') only = value
    else return { fault: `not understood: ${word} ${value}`.trim() }
  }
  if (words.includes('--live-read-only') && (words.includes('--target') || interactive))
    return { fault: '--live-read-only takes neither --target nor --interactive' }
  return { target, payerMs: interactive ? minutes * 60_000 : null, only }
}
