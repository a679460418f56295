import { describe, expect, test } from 'bun:test'
import { decideHold, type HoldFacts, type HoldTerms, planHold } from './decide-hold'

const terms: HoldTerms = { marginMs: 15_000, keepMs: 30_000, recheckMs: 20_000, holdRecheckMs: 3_600_000 }
const held: HoldFacts = {
  state: 'held',
  leftMs: 40_000,
  isReported: true,
  isRevoking: false,
  isCleared: false,
  isFirstLook: true,
  isInDoubt: false,
}
const ending = { ...held, leftMs: 15_000 }
const ended = { ...held, state: 'released', leftMs: -1_000 } as const

describe('before the provider is asked, a hold that', () => {
  test.each([
    ['was revoked needs nothing', { ...held, state: 'revoked' }, { act: 'nothing' }],
    ['is not on the chain is reported', { ...held, state: 'none' }, { act: 'reportMissing' }],
    ['is not on the chain yet is awaited', { ...held, state: 'none', isReported: false }, { act: 'await' }],
    ['has long to go is looked at once', held, { phase: 'early', mayAsk: true, deadlineMs: 6_000 }],
    [
      'was looked at is left to the chain',
      { ...held, isFirstLook: false },
      { phase: 'early', mayAsk: false, deadlineMs: 6_000 },
    ],
    [
      'is known to be in doubt is asked about as soon as it can be extended',
      { ...held, leftMs: 30_000, isFirstLook: false, isInDoubt: true },
      { phase: 'early', mayAsk: true, deadlineMs: 6_000 },
    ],
    [
      'is known to be in doubt is left to the chain until it can be extended',
      { ...held, leftMs: 30_001, isFirstLook: false, isInDoubt: true },
      { phase: 'early', mayAsk: false, deadlineMs: 6_000 },
    ],
    [
      'has little more than the margin to go is asked about in that time',
      { ...held, leftMs: 17_000 },
      { phase: 'early', mayAsk: true, deadlineMs: 2_000 },
    ],
    [
      'is within the margin is asked about for a third of it',
      ending,
      { phase: 'last', mayAsk: true, deadlineMs: 5_000 },
    ],
    [
      'was cleared is asked about again within the margin',
      { ...ending, isCleared: true },
      { phase: 'last', mayAsk: true, deadlineMs: 5_000 },
    ],
    [
      'is being revoked is not asked about',
      { ...ending, isRevoking: true },
      { phase: 'last', mayAsk: false, deadlineMs: 5_000 },
    ],
    ['has ended is asked about', ended, { phase: 'ended', mayAsk: true, deadlineMs: 6_000 }],
    ['has ended after it was cleared matures', { ...ended, isCleared: true }, { act: 'mature' }],
    [
      'has ended while it is being revoked does not mature',
      { ...ended, isCleared: true, isRevoking: true },
      { phase: 'ended', mayAsk: false, deadlineMs: 6_000 },
    ],
    [
      'runs before its order was reported is asked about',
      { ...ending, isReported: false },
      { phase: 'last', mayAsk: true, deadlineMs: 5_000 },
    ],
  ] as const)('%s', (_, facts, plan) => {
    expect(planHold(facts, terms)).toEqual(plan)
  })
})

describe('once the provider was asked, a hold', () => {
  test.each([
    ['is read again at its margin', 'early', 'hold', 40_000, { next: { sinceStartMs: 25_000 } }],
    ['in doubt is read again once it can be extended', 'early', 'extend', 40_000, { next: { sinceStartMs: 10_000 } }],
    ['in doubt is extended as soon as it can be', 'early', 'extend', 30_000, { act: 'extend', next: { inMs: 15_000 } }],
    [
      'in doubt of days is read again every hour before it can be extended',
      'early',
      'extend',
      259_200_000,
      { next: { sinceStartMs: 3_600_000 } },
    ],
    ['of days is read again after an hour', 'early', 'unasked', 259_200_000, { next: { sinceStartMs: 3_600_000 } }],
    [
      'with nothing on its way back is cleared, and read again after its end',
      'last',
      'hold',
      10_000,
      { act: 'recordCleared', next: { sinceStartMs: 11_500 } },
    ],
    [
      'with a long margin is cleared, and checked again before its end',
      'last',
      'hold',
      90_000,
      { act: 'recordCleared', next: { sinceStartMs: 20_000 } },
    ],
    ['in doubt is extended', 'last', 'extend', 10_000, { act: 'extend', next: { inMs: 3_750 } }],
    [
      'whose payment lost its hold meanwhile is extended, which changes nothing',
      'last',
      'freeze',
      10_000,
      { act: 'extend', next: { inMs: 3_750 } },
    ],
    ['that could not be asked about waits while there is time', 'last', 'unasked', 10_001, { next: { inMs: 1_875 } }],
    [
      'that could not be asked about in time is extended',
      'last',
      'unasked',
      10_000,
      { act: 'extend', next: { inMs: 1_875 } },
    ],
    ['that has ended with nothing on its way back matures', 'ended', 'free', -1_000, { act: 'mature' }],
    [
      'that has ended in doubt freezes the wallet',
      'ended',
      'freeze',
      -1_000,
      { act: 'freeze', next: { inMs: 20_000 } },
    ],
    [
      'that has ended without an answer freezes the wallet, and is asked about soon',
      'ended',
      'unasked',
      -1_000,
      { act: 'freeze', next: { inMs: 1_875 } },
    ],
  ] as const)('%s', (_, phase, stance, leftMs, outcome) => {
    expect(decideHold(phase, stance, leftMs, terms)).toEqual(outcome as never)
  })
})
