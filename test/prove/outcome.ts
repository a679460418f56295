export type Outcome = {
  readonly amount: string
  readonly found: number
  /** Tests that did not run, as without a program that they need, so that nothing found proves nothing about them. */
  readonly skipped?: number
}

export const outcomeLine = ({ amount, found }: Outcome): string => `\nproof: ${amount}; ${found} found`

export const printOutcome = (outcome: Outcome): void => console.log(outcomeLine(outcome))

export function outcomeIn(output: string): Outcome | undefined {
  const [, amount, found] = /^proof: (.+); (\d+) found$/m.exec(output) ?? []
  if (amount) return { amount, found: Number(found) }
  const [, passed] = /^ *(\d+) pass$/m.exec(output) ?? []
  const [, failed] = /^ *(\d+) fail$/m.exec(output) ?? []
  if (!passed || !failed) return undefined
  const [, skipped = '0'] = /^ *(\d+) skip$/m.exec(output) ?? []
  return { amount: `${Number(passed) + Number(failed)} tests`, found: Number(failed), skipped: Number(skipped) }
}
