import { describe, expect, test } from 'bun:test'
import { serviceNames } from '#shared/messages/topic'
import { needsOf, type Sources, type Told } from './needs'
import type { Standing } from './standing'

const nowMs = Date.parse('2026-11-24T12:00:00Z')
const lane = { address: '0xab', fault: null as string | null, balanceWei: '5' }
const cover = { freeMicro: 5, freeMinor: 5, treasuryAgeMs: 0, balanceAgeMs: 0 }
const usual = { deadLetters: 0, outboxWaiting: 0, outboxOldestMs: null }
const figuresOf: Record<string, object> = {
  pricing: { 'USD/IDR': { rate: '16250' }, readMsAgo: 0 },
  payments: { ...usual, inReview: 0, frozenWallets: 0, cover },
  payouts: { ...usual, cover, anomalies: 3 }, // Anomalies are permanent and raise no alert.
  'chain-relayer': { deadLetters: 0, outbox: { waiting: 0, oldestMs: null }, lanes: [lane] },
  gateway: usual,
  books: { breaks: { open: 2, beyondGrace: 0, oldestMs: 5_000 }, run: { ageMs: 1_000 } },
}
const there = (name: string): Told => ({ name, copies: 1, figures: { ...figuresOf[name] } })
const standing: Standing = {
  pauses: [],
  breaks: { old: 0, young: 0, oldestMs: 0 },
  comparedMsAgo: 1_000,
  unexplained: { count: 0, ausdMicro: '0', oldestMs: 0 },
  lists: [],
}
const stateText = (service: string, seconds: number) =>
  [
    `ausd_state_oldest_age_seconds{service="${service}",copy="one",state="on_the_way"} ${seconds}`,
    `ausd_state_age_limit_seconds{service="${service}",copy="one",state="on_the_way"} 600`,
  ].join('\n')
const writers = ['gateway', 'payments', 'payouts', 'chain-relayer']
const metricsWith = (seconds: number) =>
  writers.map((name) => stateText(name, name === 'payouts' ? seconds : 0)).join('\n')
const queue = { stream: 'EVENTS', reader: 'payments', waiting: 0, underWay: 0, redelivered: 0 }
const fine: Sources = {
  services: [...serviceNames, 'books'].map(there),
  readiness: { known: { missing: [], down: [] } },
  queues: { known: [queue] },
  metrics: { known: metricsWith(600) },
  standing: { known: standing },
  nowMs,
}

/** Some of a service's figures being others. */
const told = (name: string, change: object): Partial<Sources> => ({
  services: fine.services.map((one) =>
    one.name === name ? { ...one, figures: { ...one.figures, ...change } } : one,
  ),
})
const without = (name: string, copies: number | null = 0): Partial<Sources> => ({
  services: fine.services.map((one) => (one.name === name ? { ...one, copies, figures: {} } : one)),
})
const rows = (change: Partial<Standing>): Partial<Sources> => ({
  standing: { known: { ...standing, ...change } },
})
const down = (service: 'payments', since: string): Partial<Sources> => ({
  readiness: { known: { missing: [], down: [{ service, copy: 'two', state: 'gone', since }] } },
})

test('the console has no alert while everything is healthy and readable', () => {
  expect(needsOf(fine)).toEqual({ needs: [], unseen: [] })
})

describe('the console raises an alert for', () => {
  test.each([
    [
      'a pause',
      rows({ pauses: [{ what: 'payouts', since: new Date(0), by: 'sari', reason: 'ticket 7' }] }),
      /^payouts paused since 1970-01-01T00:00:00.000Z, by sari: ticket 7$/,
    ],
    [
      'unexplained AUSD',
      rows({ unexplained: { count: 1, ausdMicro: '2500000', oldestMs: 9 } }),
      /^unexplained AUSD in the treasury: 2\.500000 AUSD/,
    ],
    [
      'a list that is not read',
      rows({ lists: [{ service: 'x', account: 'ID', window: 'latest', failures: 4 }] }),
      /\(x, ID, latest\) failed 4 times/,
    ],
    [
      'breaks beyond their grace',
      told('books', { breaks: { beyondGrace: 2, oldestMs: 9 } }),
      /2 open/,
    ],
    [
      'books that are not compared',
      told('books', { run: { ageMs: 600_001 } }),
      /were not compared/,
    ],
    ['a payment in review', told('payments', { inReview: 2 }), /^2 payments in manual review/],
    ['a frozen wallet', told('payments', { frozenWallets: 1 }), /^1 wallet frozen/],
    ['dead letters', told('gateway', { deadLetters: 1 }), /^gateway has 1 dead letter$/],
    ['an outbox', told('payouts', { outboxWaiting: 3, outboxOldestMs: 60_001 }), /: 3 unsent$/],
    [
      'an outbox reported as one value',
      told('chain-relayer', { outbox: { waiting: 3, oldestMs: 60_001 } }),
      /^outbox of chain-relayer is backed up: 3 unsent$/,
    ],
    ['a blocked lane', told('chain-relayer', { lanes: [{ ...lane, fault: 'ahead' }] }), /: ahead$/],
    ['a pair without a rate', told('pricing', { 'A/B': { unavailable: 'old' } }), /A\/B: old/],
    [
      'committed AUSD above the treasury balance',
      told('payments', { cover: { freeMicro: -1 } }),
      /0\.000001 AUSD/,
    ],
    [
      'a treasury balance that is out of date',
      told('payments', { cover: { freeMicro: 1, treasuryAgeMs: 60_001 } }),
      /not read/,
    ],
    ['a reader far behind', { queues: { known: [{ ...queue, waiting: 1_001 }] } }, /1001 messages/],
    [
      'a state that lasts',
      { metrics: { known: metricsWith(601) } },
      /^payouts: on the way for too/,
    ],
    [
      'an instance that is down',
      down('payments', '2026-11-24T11:59:00Z'),
      /^an instance of payments does not/,
    ],
    [
      'postgres',
      { readiness: { known: { missing: ['postgres'], down: [] } } },
      /^postgres does not/,
    ],
    ['a silent service', without('indexer-reader'), /^indexer-reader does not answer$/],
  ] as [string, Partial<Sources>, RegExp][])('%s', (_, change, line) => {
    const { needs, unseen } = needsOf({ ...fine, ...change })
    expect(needs.map(({ says }) => says)).toEqual([expect.stringMatching(line)])
    expect(unseen).toEqual([])
  })
})

describe('the console lists unreadable figures as unknown:', () => {
  test.each([
    [
      'the counts of a service that does not answer',
      without('payments'),
      ['payments does not answer'],
      /^reviews, frozen wallets.* of payments/,
    ],
    [
      'figures that a service could not read',
      without('payouts', 1),
      [],
      /^dead letters, outbox and cover of payouts/,
    ],
    ['rates', without('pricing', 1), [], /^rates of pricing/],
    ['a treasury not read yet', told('payments', { cover: undefined }), [], /^treasury balance/],
    ['queues', { queues: { unknown: 'no password' } }, [], /^queues: no password$/],
    ['ages', { metrics: { unknown: 'late' } }, [], /^time in each state: late$/],
    ['rows', { standing: { unknown: 'no role' } }, [], /^pauses, unexplained AUSD, .*: no role$/],
    ['the books', { ...without('books'), ...rows({ comparedMsAgo: null }) }, [], /never compared/],
  ] as [string, Partial<Sources>, string[], RegExp][])('%s', (_, change, needs, line) => {
    const judged = needsOf({ ...fine, ...change })
    expect(judged.needs.map(({ says }) => says)).toEqual(needs)
    expect(judged.unseen).toEqual([expect.stringMatching(line)])
  })

  test('without the job of the books, the console alerts on breaks older than any grace period and lists younger ones as unknown', () => {
    const breaks = { old: 1, young: 2, oldestMs: 1_000_000 }
    const { needs, unseen } = needsOf({ ...fine, ...without('books'), ...rows({ breaks }) })
    expect(needs).toEqual([{ says: 'the books have 1 open break', ageMs: 1_000_000 }])
    expect(unseen).toEqual(['grace period of 2 recent breaks in the books'])
  })

  test('the console still alerts on a break while the job of the books has not finished its first run', () => {
    const begun = told('books', { run: { ageMs: -1 }, breaks: { beyondGrace: 0, oldestMs: 0 } })
    const breaks = { old: 1, young: 0, oldestMs: 1_000_000 }
    expect(needsOf({ ...fine, ...begun, ...rows({ breaks }) }).needs).toHaveLength(1)
  })
})
