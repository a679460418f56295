export type Engine = {
  readonly name: string
  /** Claim that only this engine proves. */
  readonly proves: string
  /** Minutes of the default size on two quiet cores. */
  readonly minutes: number
  readonly run: readonly string[]
  /** True if the engine takes options, and prints them for `--help`. */
  readonly hasHelp?: true
  /** Option for the duration; engines without it have fixed work. */
  readonly duration?: '--minutes'
}

const suites = (...paths: string[]) => ['test', '--timeout', '1200000', ...paths]

/** Engines, the quickest first. */
export const engines: readonly Engine[] = [
  {
    name: 'conformance',
    hasHelp: true,
    proves: 'the provider and identity clients work against the sandbox, or against test mode',
    minutes: 1,
    run: ['test/conformance/run.ts'],
  },
  {
    name: 'year',
    proves:
      'in 2025, with both countries’ holidays, money that comes in has a price at every hour; waiting for Monday is priced',
    minutes: 1,
    run: ['test/year/run.ts'],
  },
  {
    name: 'bodies',
    proves: 'a recorded body with any field malformed ends in a state or an anomaly',
    minutes: 1,
    run: suites('./test/recorded/families.proof.test.ts'),
  },
  {
    name: 'contract',
    proves: 'no random calls of the credit line by anyone lose, lock or create AUSD',
    minutes: 2,
    run: suites('./infra/contracts/invariants.proof.test.ts'),
  },
  {
    name: 'bounds',
    proves: 'no statement scans a table that grows, and pruned history replays without effect',
    minutes: 2,
    run: suites('./test/bounds/plans.proof.test.ts', './test/bounds/pruned.proof.test.ts'),
  },
  {
    name: 'breaks',
    proves: 'the books of a running stack report each break that is planted in it, and nothing else',
    minutes: 2,
    run: suites('./infra/operations/books/planted-breaks.proof.test.ts'),
  },
  {
    name: 'restore',
    proves: 'Postgres restored from a backup, with or without the bus, loses and doubles nothing',
    minutes: 2,
    run: suites('./test/failures/restore.proof.test.ts'),
  },
  {
    name: 'upgrade',
    proves: 'services of an earlier commit (UPGRADE_FROM, HEAD^) and of this one work side by side',
    minutes: 1,
    run: suites('./test/scale/upgrade.proof.test.ts'),
  },
  {
    name: 'scale',
    proves: 'with two instances of each service, restarts, freezes and kills fail no request',
    minutes: 3,
    run: suites('./test/scale/copies.proof.test.ts'),
  },
  {
    name: 'fuzz',
    hasHelp: true,
    proves: 'requests generated from the OpenAPI document never cause a 5xx or an undocumented response',
    minutes: 2,
    run: ['test/fuzz/run.ts'],
  },
  {
    name: 'powercut',
    proves: 'Postgres and JetStream lose nothing acknowledged in a power cut, and notice a changed byte',
    minutes: 3,
    run: ['test/powercut/run.ts'],
  },
  {
    name: 'clients',
    proves:
      'clients that Python, Go and Kotlin generate from the OpenAPI document compile, Metro and Hermes take ours, and each opens a top-up',
    minutes: 3,
    run: suites('./test/clients/clients.proof.test.ts'),
  },
  {
    name: 'campaign',
    hasHelp: true,
    proves: 'under faults of every kind, an audit from outside finds every unit and no leaked secret',
    minutes: 4,
    run: ['test/world/run.ts', 'campaign'],
    duration: '--minutes',
  },
  {
    name: 'simulation',
    hasHelp: true,
    proves: 'the services’ own logic, under every modelled interleaving, crash and fault',
    minutes: 3,
    run: ['test/simulation/simulate.ts'],
    duration: '--minutes',
  },
  {
    name: 'outages',
    hasHelp: true,
    proves: 'how soon all work is done after a minute without NATS, Postgres, chain or provider',
    minutes: 10,
    run: ['test/world/run.ts', 'outages'],
  },
  {
    name: 'alerts',
    proves: 'each alert rule fires for its cause on a running stack, and resolves',
    minutes: 10,
    run: suites('./test/alerts/alerts.proof.test.ts'),
  },
  {
    name: 'failover',
    hasHelp: true,
    proves: 'one node of a NATS cluster or of a Postgres pair may die under load',
    minutes: 5,
    run: ['test/failover/run.ts'],
  },
  {
    name: 'crashes',
    hasHelp: true,
    proves: 'a kill at each named boundary of each money path, alone or in pairs',
    minutes: 12,
    run: ['test/world/run.ts', 'crashes'],
  },
  {
    name: 'endpoints',
    proves: 'every money path ends behind RPC endpoints that limit, hang, lag or serve another chain',
    minutes: 15,
    run: suites('./test/failures/rpc-endpoints.proof.test.ts', './test/failures/rpc.proof.test.ts'),
  },
  {
    name: 'guards',
    hasHelp: true,
    proves: 'without each guard of the money, a test, a race of `orders`, the simulation or the campaign fails',
    minutes: 20,
    run: ['test/guards/run.ts'],
  },
  {
    name: 'orders',
    hasHelp: true,
    proves: 'two sessions on a real Postgres, in every order of their statements',
    minutes: 25,
    run: ['test/orders/run.ts', '--most', '1000'],
  },
  {
    name: 'rehearsal',
    hasHelp: true,
    proves: 'compose and the runbook on a real container engine',
    minutes: 25,
    run: ['infra/compose/smoke-test/main.ts'],
  },
]
