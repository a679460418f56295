import { expect, test } from 'bun:test'
import { type Canary, copySources } from '../support/canary'

// A campaign that finds nothing is the first thing to doubt: on copies of the sources with a defect in them
// it finds each. Of the faults only those that meet it, and of what people do what meets them, so that half
// a minute is enough, or it is tried again with another seed.

/** What each defect leaves behind, in the words of the report. */
const traces: Record<Canary, RegExp> = {
  outbox: /which no stream has/, // The broker never got it.
  relayer: /rest on 0 transfers/, // Paid for a transfer that was taken back.
  payouts: /was paid and given back/, // A refusal was believed too early.
}
const seedsMax = 5
const words = ['--minutes', '0.5', '--people', '14']

test.each<[readonly Canary[], faults: string, flows: string, quietSeconds: string]>([
  // What was lost never ends, and is not waited for.
  [['outbox'], 'the way to nats loses', '', '5'],
  [['relayer', 'payouts'], 'orders come in', 'cash-out', '45'],
])(
  'it finds the canaries in %p by %s',
  async (canaries, faults, flows, quietSeconds) => {
    using copy = copySources()
    for (const one of canaries) copy.apply(one)
    const hidden = new Set(canaries)
    const told: string[] = []
    for (let seed = 1; hidden.size > 0 && seed <= seedsMax; seed++) {
      const only = ['--faults', faults, '--flows', flows, '--quiet', quietSeconds]
      const own = ['--seed', String(seed), ...only]
      const { code, out } = await copy.run('test/campaign/run.ts', ...own, ...words)
      told.push(out)
      for (const one of [...hidden].filter((name) => traces[name].test(out))) {
        expect(code).toBe(1)
        hidden.delete(one)
      }
    }
    if (hidden.size > 0) console.log(told.join('\n'))
    expect([...hidden]).toEqual([])
  },
  1_200_000,
)
