import { expect, test } from 'bun:test'
import { progressOf, type Standing } from './events'

const refusal = { sequence: 12, why: 'ECONNREFUSED', retryAt: '2026-11-29T10:00:00.000Z' }
const [before, storedAt, resentAt] = [8, 9, 10].map((hour) => new Date(Date.UTC(2026, 10, 29, hour))) as [
  Date,
  Date,
  Date,
]
const standing = (over: Partial<Standing> = {}): Standing => ({
  ack_floor: { stream_seq: 10 },
  delivered: { stream_seq: 15 },
  num_ack_pending: 1,
  refused: new Map([[12, refusal]]),
  givenUp: new Set(),
  resent: new Map(),
  ...over,
})

const retried = 'refused (ECONNREFUSED), will retry at 2026-11-29T10:00:00.000Z'
test.each<[string, number, Partial<Standing>, string]>([
  ['acknowledged', 10, {}, 'taken'],
  ['not sent yet', 16, {}, 'waiting'],
  ['refused', 12, {}, retried],
  ['delivered, while all that are pending are known to be refused', 11, {}, 'taken'],
  ['delivered, while a gateway has forgotten a refusal', 11, { num_ack_pending: 2 }, 'taken, or will be retried'],
  ['refused, then taken by a resend', 12, { resent: new Map([[12, resentAt]]) }, 'taken'],
  ['given up', 9, { givenUp: new Set([9]) }, 'given up'],
  ['given up, then taken by a resend', 9, { givenUp: new Set([9]), resent: new Map([[9, resentAt]]) }, 'taken'],
  [
    'given up, in a stream that began anew after its number was sent again',
    9,
    { givenUp: new Set([9]), resent: new Map([[9, before]]) },
    'given up',
  ],
])('ops events list shows the progress of an event that is %s', (_, seq, over, progress) => {
  expect(progressOf(standing(over), { seq, time: storedAt })).toBe(progress)
})
