import { expect, test } from 'bun:test'
import { alerts } from '#infra/operations/alerts/catalogue'
import { processNames } from '#shared/messages/topic'
import { breaksText, needsText } from '../cli/status'
import { attention, needs } from './attention'
import type { OnBus } from './bus'
import type { SystemFacts } from './facts'

const allThere = Object.fromEntries(processNames.map((name) => [name, 1]))
const known: OnBus = { copies: allThere, down: [], lags: [], missing: [], heartbeats: [], rates: [], figures: {} }
const bus = (more: Partial<OnBus>) => ({
  bus: { known: { ...known, ...more } },
})
const fine: SystemFacts = {
  clockAheadMs: -29_000,
  paused: [],
  proposedCommands: 0,
  states: [],
  promisedMicro: 0n,
  owedMicro: 0n,
  unpaidMinor: 0n,
  outboxes: [],
  deadLetters: [{ service: 'payments', count: 0 }],
  lanes: [{ address: '0xab', fault: null }],
  frozenWallets: 0,
  needlessRepayments: 0,
  refusedAccounts: 0,
  heldCashouts: 0,
  evidenceDue: { count: 0, leftMs: 0, paymentId: '' },
  doubtfulPayouts: { count: 0, payoutId: '' },
  secondWallets: 0,
  failedFlags: 0,
  breaks: [],
  books: { endedAt: null, ageMs: 0 },
  lists: [],
  unexplained: { count: 0, ausdMicro: '0', oldestMs: 0 },
  ...bus({ rates: [{ pair: 'USD/IDR', rate: '16250' }] }),
  treasury: { known: { balanceMicro: 5_000_000n, drawableMicro: 5_000_000n } },
  rupiah: { known: 1_000n },
  coin: new Map([['0xab', { known: 5n }]]),
}
const floors = { lowMicro: 1_000_000n, lowMinor: 1_000n, laneWei: 5n, copies: 1 }
const state = (what: SystemFacts['states'][number]['what'], name: string, waitedMs: number) => ({
  states: [{ what, state: name, count: 2, oldestMs: 7 * 86_400_000, waitedMs, sums: {} }],
})

test('status reports no alert while all is well', () => {
  expect(needs(fine, floors)).toEqual([])
  expect(needs({ ...fine, ...state('payment', 'paid', 600_000) }, floors)).toEqual([])
  expect(needs({ ...fine, ...state('operation', 'brand_new', 1e12) }, floors)).toEqual([])
  const young = { books: { endedAt: null, ageMs: 1_000 } }
  expect(needs({ ...fine, ...young }, floors)).toEqual([])
})

const cases = [
  [
    'a clock of Postgres that is ahead',
    { clockAheadMs: 7_200_000 },
    /the clock of Postgres is 2 h ahead of this machine's: see DatabaseClockSet/,
  ],
  [
    'a clock of Postgres that is behind',
    { clockAheadMs: -40_000 },
    /the clock of Postgres is 40 s behind this machine's/,
  ],
  ['uncommitted AUSD below the threshold', { promisedMicro: 4_000_001n }, /treasury is low: 0\.999999/],
  ['AUSD owed to cash-outs', { owedMicro: 4_000_001n }, /treasury is low/],
  [
    'commitments that exceed the treasury balance',
    { promisedMicro: 6_000_000n },
    /exceeds treasury balance by 1\.000000 AUSD/,
  ],
  [
    'an unreadable treasury',
    { treasury: { unknown: 'silent' } },
    /cannot read the treasury: silent: see TreasuryUnreadable$/,
  ],
  ['uncommitted rupiah below the threshold', { unpaidMinor: 1n }, /provider balance is low: Rp 999 uncommitted/],
  [
    'an unreadable provider balance',
    { rupiah: { unknown: 'no key' } },
    /^cannot read the provider's balance: no key: see ProviderBalanceUnreadable$/,
  ],
  [
    'an unreadable balance of a lane',
    { coin: new Map([['0xab', { unknown: 'silent' }]]) },
    /^cannot read the balance of lane 0xab: silent: see EndpointFails$/,
  ],
  [
    'a pause',
    { paused: [{ what: 'payouts', since: new Date(0), by: 'sari', reason: 'ticket 7' }] },
    /^payouts paused since 1970-01-01T00:00:00.000Z, by sari: ticket 7: bun run ops resume payouts$/,
  ],
  ['a payment in review', state('payment', 'review', 0), /^2 payments need review: bun run ops review list$/],
  ['a payment in one state for too long', state('payment', 'paid', 600_001), /paid for too long: 2/],
  ['a cash-out in one state for too long', state('payout', 'taking', 900_001), /taking for too long/],
  [
    'an identity verdict that is not on the chain for too long',
    state('identity', 'rejected', 600_001),
    /^identity rejected for too long: 2, oldest 10 min: bun run ops in-flight$/,
  ],
  ['a lane without native coin', { coin: new Map([['0xab', { known: 4n }]]) }, /0xab needs native coin/],
  ['a blocked lane', { lanes: [{ address: '0xab', fault: 'chain_ahead' }] }, /chain_ahead/],
  [
    'a full outbox',
    { outboxes: [{ service: 'x', waiting: 3, oldestMs: 60_001 }] },
    /^outbox of x is backed up: 3 unsent/,
  ],
  [
    'dead letters',
    { deadLetters: [{ service: 'x', count: 1 }] },
    /^x has 1 dead letter: bun run ops dead-letters list$/,
  ],
  [
    'a command that waits for a second operator',
    { proposedCommands: 1 },
    /1 command waits for a second operator: bun run ops commands --proposed$/,
  ],
  [
    'a second wallet of a person',
    { secondWallets: 1 },
    /^1 wallet is of a person who has another wallet: bun run ops persons list$/,
  ],
  [
    'a verdict whose flag the relayer gave up',
    { failedFlags: 1 },
    /^1 verdict not set on the chain: bun run ops persons list$/,
  ],
  [
    'a repayment to give back',
    { needlessRepayments: 1 },
    /^1 needless repayment to give back: bun run ops wallets list$/,
  ],
  [
    'a dispute that waits for evidence',
    { evidenceDue: { count: 1, leftMs: 90_000_000, paymentId: 'pay_1' } },
    /^1 dispute waits for evidence, the first is lost in .*: bun run ops trace pay_1$/,
  ],
  [
    'disputes whose evidence is late',
    { evidenceDue: { count: 2, leftMs: -1, paymentId: 'pay_1' } },
    /^2 disputes wait for evidence, the first is overdue: bun run ops trace pay_1$/,
  ],
  [
    'payouts that do not fit their orders',
    { doubtfulPayouts: { count: 2, payoutId: 'out_1' } },
    /^2 payouts need review: bun run ops trace out_1$/,
  ],
  ['a frozen wallet', { frozenWallets: 1 }, /^1 wallet is frozen: bun run ops wallets list$/],
  [
    'a service that does not respond',
    bus({ copies: { ...allThere, payouts: 0 } }),
    /^payouts does not respond: see ServiceDown$/,
  ],
  [
    "the operators' process that does not respond",
    bus({ copies: { ...allThere, operations: 0 } }),
    /^operations does not/,
  ],
  [
    'an instance that is down while another of its service responds',
    bus({
      down: [{ service: 'payments', copy: 'two', state: 'gone', since: '2026-11-24T11:59:00Z' }],
    }),
    /^an instance of payments does not respond \(gone\), since 2026-11-24T11:59:00Z: see InstanceDown$/,
  ],
  [
    'unexplained AUSD',
    { unexplained: { count: 1, ausdMicro: '2500000', oldestMs: 9_000 } },
    /^unexplained AUSD in the treasury: 2\.500000 AUSD \(1 transfer\), oldest 9 s/,
  ],
  ['an unreachable bus', { bus: { unknown: 'refused' } }, /^cannot read the bus: refused: see ServicesUnreachable$/],
  [
    'a stream that takes no message',
    bus({ heartbeats: [{ through: 'EVENTS', ageMs: 60_000, says: 'TIMEOUT' }] }),
    /EVENTS has taken no message for .*: TIMEOUT/,
  ],
  [
    'a Postgres that refuses writes',
    bus({ heartbeats: [{ through: 'postgres', ageMs: 60_000, says: 'read-only' }] }),
    /postgres has taken no write for .*: read-only/,
  ],
  [
    'a consumer that is gone',
    bus({ missing: [{ reader: 'payments', stream: 'EVENTS' }] }),
    /payments of EVENTS is gone/,
  ],
  [
    'a consumer far behind',
    bus({
      lags: [{ reader: 'x', stream: 'EVENTS', waiting: 1_001, underWay: 0, redelivered: 0 }],
    }),
    /x is 1001 messages behind EVENTS/,
  ],
  ['a pair without a rate', bus({ rates: [{ pair: 'A/B', unavailable: 'old' }] }), /A\/B: old/],
  [
    'a provider list that cannot be read',
    { lists: [{ service: 'x', account: 'ID', window: 'latest', ageMs: 1, failures: 4 }] },
    /\(x, ID, latest\) failed 4 times/,
  ],
  [
    'books that are no longer reconciled',
    { books: { endedAt: new Date(0), ageMs: 900_000 } },
    /^last reconciliation 15 min ago: bun run ops reconcile$/,
  ],
  [
    'books that were never reconciled since the first payment',
    { books: { endedAt: null, ageMs: 900_000 } },
    /^books not reconciled since the first payment 15 min ago: bun run ops reconcile$/,
  ],
  [
    'breaks beyond their grace period, and no others',
    {
      breaks: [
        { standing: 'counts', ageMs: 7_200_000 },
        { standing: 'counts', ageMs: 1 },
        { standing: 'young', ageMs: 9e9 },
      ],
    },
    /^2 open breaks in the books, oldest 2 h: bun run ops reconcile$/,
  ],
  ['a single break', { breaks: [{ standing: 'counts', ageMs: 1_000 }] }, /^1 open break in the books, oldest 1 s/],
] as const

test.each(cases)('status reports %s', (_, change, line) => {
  const lines = needs({ ...fine, ...change } as SystemFacts, floors)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(line)
})

const found = (change: object) => {
  const { needs: known, unread } = attention({ ...fine, ...change } as SystemFacts, floors)
  return [...unread, ...known]
}

test('rows that cannot be read are reported with steps, and no alert that they would show', () => {
  const judged = attention({ unread: 'no rows', bus: fine.bus }, floors)
  expect(needsText(judged)).toEqual([
    'needs attention:',
    '  cannot read the rows: no rows: see MetricsMissing',
    'to do:',
    expect.stringMatching(/^ {2}MetricsMissing: .*`dc logs --tail 50 postgres`\.$/),
  ])
})

test('a case above proves every alert of the status, and no other alert is there', () => {
  const named = [
    ...cases.flatMap(([, change]) => found(change)),
    ...attention({ unread: '', bus: fine.bus }, floors).unread,
  ]
  const wanted = alerts.filter(({ inStatus }) => inStatus).map(({ name }) => name)
  expect([...new Set<string>(named.map(({ alert }) => alert))].sort()).toEqual(wanted.toSorted())
})

test('every alert of the status has a command or steps, and the same steps are printed once', () => {
  for (const [, change] of cases)
    for (const { line, steps } of found(change)) {
      expect([line, steps !== undefined]).toEqual([line, !line.includes(': bun run ops ')])
      expect(steps ?? '').not.toContain('`bun run ops status`')
    }
  const silent = { ...fine, ...bus({ copies: { ...allThere, payments: 0, payouts: 0 } }) }
  expect(needsText(attention(silent, floors))).toEqual([
    'needs attention:',
    '  payments does not respond: see ServiceDown',
    '  payouts does not respond: see ServiceDown',
    'to do:',
    expect.stringMatching(/^ {2}ServiceDown: Every instance is down or hung\. .* Begin with `bus micro ping`\.$/),
  ])
})

test('a break that is within its grace period or explained is shown without an alert', () => {
  const breaks = [
    { standing: 'young', ageMs: 60_000 },
    { standing: 'rests', ageMs: 9e9 },
  ] as const
  expect(needs({ ...fine, breaks }, floors)).toEqual([])
  expect(breaksText(breaks)).toBe('2 open, 1 within grace period, 1 explained')
  expect(breaksText([])).toBe('0 open')
})

test('status --copies reports each service with fewer responding instances', () => {
  const copies = { ...Object.fromEntries(processNames.map((name) => [name, 2])), operations: 1 }
  const one = { ...fine, ...bus({ copies: { ...copies, payments: 1 } }) }
  expect(needs({ ...fine, ...bus({ copies }) }, { ...floors, copies: 2 })).toEqual([])
  expect(needs(one, { ...floors, copies: 2 })).toEqual(['1 of 2 instances of payments respond: see InstanceDown'])
})
