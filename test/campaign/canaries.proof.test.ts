import { expect, test } from 'bun:test'
import { type Canary, canaries, copySources } from '../support/canary'

// A campaign that finds nothing is the first thing to doubt: on a copy of the sources with defects in them
// it finds each. Only the faults and user flows that can meet them are played, so that half
// a minute is enough, or it is tried again with another seed. None leaves the trace of another.

/** What each defect leaves behind, in the words of the report. */
const traces: Record<Canary, RegExp> = {
  outbox: /which is in no stream/, // The broker never got it.
  relayer: /were paid or returned for 0 transfers/, // Paid for a transfer that was taken back.
  payouts: /was paid and returned/, // A refusal was believed too early.
}
const seedsMax = 5
// Faults that can meet them: lost messages, and a slow provider and chain.
const faults = 'connections to nats lose,orders are executed'
// A lost item never ends: the audit begins once nothing has completed for this long.
const quietSeconds = '30'

test('the campaign finds each of the three planted defects', async () => {
  using copy = copySources()
  for (const one of canaries) copy.apply(one)
  const hidden = new Set<Canary>(canaries)
  const told: string[] = []
  for (let seed = 1; hidden.size > 0 && seed <= seedsMax; seed++) {
    const own = ['--seed', String(seed), '--minutes', '0.5', '--people', '14']
    const only = ['--faults', faults, '--flows', 'cash-out', '--quiet', quietSeconds]
    const { code, out } = await copy.run('test/campaign/run.ts', ...own, ...only)
    told.push(out)
    for (const one of [...hidden].filter((name) => traces[name].test(out))) {
      expect(code).toBe(1)
      hidden.delete(one)
    }
  }
  if (hidden.size > 0) console.log(told.join('\n'))
  expect([...hidden]).toEqual([])
}, 1_200_000)
