import { expect, test } from 'bun:test'
import { type Canary, canaries, copySources } from '../support/canary'

// Only the faults and flows that can meet the planted defects are played, so half a minute is enough; otherwise another
// seed is tried. No defect leaves the trace of another.

const traces: Record<Canary, RegExp> = {
  outbox: /which is in no stream/, // The message never reached the broker.
  relayer: /were paid or returned for 0 transfers/, // The payout was paid although its transfer reverted.
  payouts: /was paid and returned/, // A refusal was believed too early.
}
const seedsMax = 5
// The first fault loses messages; the second makes provider and chain slow.
const faults = 'connections to nats lose,orders are executed'
// A lost item never ends, so the audit begins once nothing has completed for this long.
const quietSeconds = '30'

test('the campaign finds each of the three planted defects', async () => {
  using copy = copySources()
  for (const one of canaries) copy.apply(one)
  const hidden = new Set<Canary>(canaries)
  const told: string[] = []
  for (let seed = 1; hidden.size > 0 && seed <= seedsMax; seed++) {
    const own = ['--seed', String(seed), '--minutes', '0.5', '--people', '14']
    const only = ['--faults', faults, '--flows', 'cash-out', '--quiet', quietSeconds]
    const { code, out } = await copy.run('test/world/run.ts', 'campaign', ...own, ...only)
    told.push(out)
    for (const one of [...hidden].filter((name) => traces[name].test(out))) {
      expect(code).toBe(1)
      hidden.delete(one)
    }
  }
  if (hidden.size > 0) console.log(told.join('\n'))
  expect([...hidden]).toEqual([])
}, 1_200_000)
