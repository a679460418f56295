/** A run of the simulation or of the campaign that must notice that the guards are missing. */
export type EngineRun = {
  readonly guards: readonly string[]
  /** Words of the command. Each is tried in turn until all of `finds` were found. */
  readonly tries: readonly (readonly string[])[]
  /** Findings in the output, of which none is left by another guard that is missing. */
  readonly finds: readonly RegExp[]
}

const published = 'a message is noted as sent after the broker confirmed it'
const cancelled = 'a cancelled transfer is not taken for one that was done'
const refused = 'a refusal proves nothing right after an attempt of unknown outcome'

const simulate = (...options: string[]) => [['test/simulation/simulate.ts', ...options]]
const flows = simulate('--flows', '4000', '--once')
const story = /Shortest failing story:/

// Only the faults and flows that can meet the guards are played, so half a minute is enough; otherwise another seed is
// tried. The first fault loses messages; the second makes provider and chain slow. A lost item never ends, so the audit
// begins once nothing has completed for 30 s.
const faults = ['--faults', 'connections to nats lose,orders are executed']
const cashouts = 'bank later,bank refuses,bank reverses,asked for twice,cancelled during,cancelled after its request'
const only = [...faults, '--flows', cashouts, '--people', '14', '--minutes', '0.5', '--quiet', '30']

export const engineRuns: readonly EngineRun[] = [
  { guards: [published], tries: flows, finds: [/is noted as published/, story] },
  { guards: [cancelled], tries: flows, finds: [/AUSD in the treasury, not/, story] },
  {
    guards: [refused],
    tries: simulate('--walk', 'one refused'),
    finds: [/given back, and the bank pays/, /relay\.take is done on the chain/],
  },
  {
    guards: [published, cancelled, refused],
    tries: [1, 2, 3, 4, 5].map((seed) => ['test/world/run.ts', 'campaign', ...only, '--seed', String(seed)]),
    finds: [
      /which is in no stream/, // The message never reached the broker.
      /were paid or returned for 0 transfers/, // The payout was paid although its transfer reverted.
      /was paid and returned/, // A refusal was believed too early.
    ],
  },
]
