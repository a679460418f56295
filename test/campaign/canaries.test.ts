import { expect, test } from 'bun:test'
import { canaries, copySources } from '../support/canary'

// A campaign that finds nothing is the first thing to doubt: on a copy of the sources with three defects
// in it, it finds each. Of the faults only those that meet them, so that half a minute is enough, or it
// is tried once more.
const faults = ['the way to nats', 'nats-server', 'orders come in', 'swallows'].join()
const words = ['--minutes', '0.6', '--people', '14', '--quiet', '45', '--faults', faults]

/** What each of them leaves behind, in the words of the audit. */
const traces = {
  outbox: /its money did not arrive|has no end: /, // The broker never got it.
  relayer: /rest on 0 transfers/, // Paid for a transfer that was taken back.
  payouts: /was paid and given back/, // A refusal was believed too early.
}

// By hand, `CANARIES=1`: each seed meets two of them, and three are not always enough for the one in outbox.
test.if(process.env.CANARIES === '1')(
  'it finds the three canaries',
  async () => {
    using copy = copySources()
    for (const one of canaries) copy.apply(one)
    const hidden = new Set(canaries)
    for (let seed = 1; hidden.size > 0 && seed <= 3; seed++) {
      const { code, out } = await copy.run('test/campaign/run.ts', '--seed', String(seed), ...words)
      console.log(out)
      for (const one of [...hidden].filter((name) => traces[name].test(out))) {
        expect(code).toBe(1)
        hidden.delete(one)
      }
    }
    expect([...hidden]).toEqual([])
  },
  600_000,
)
