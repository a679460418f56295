import { describe, expect, test } from 'bun:test'
import {
  decideIdentity,
  type Identity,
  type IdentityPolicy,
  type KnownIdentity,
  needsAsking,
  nextCheckAt,
  type RecheckSchedule,
  retryAt,
} from './identity'
import type { Statement } from './provider'

const wallet = `0x${'ab'.repeat(20)}` as const
const policy: IdentityPolicy = { level: 'basic', environment: 'production' }
const statement = (over: Partial<Statement> = {}): Statement => ({
  eventId: 'event',
  occurredAtMs: 2_000,
  subjectRef: wallet,
  providerRef: 'applicant',
  level: 'basic',
  word: 'approved',
  sandbox: false,
  ...over,
})
const known = (state: Identity['state'], decidedAtMs: number, revision: bigint | null): Identity => ({
  state,
  decidedAtMs,
  revision,
})

describe('a verdict', () => {
  const verified1 = known('verified', 1_000, 1_000n)
  test.each<[string, Identity | undefined, Partial<Statement>, Identity, boolean | null]>([
    ['approves a user without a verdict', undefined, {}, known('verified', 2_000, 2_000n), true],
    [
      'refuses a user without a verdict, whose flag was never set',
      undefined,
      { word: 'rejected' },
      known('rejected', 2_000, null),
      null,
    ],
    ['approves a previously rejected user', known('resubmit', 1_000, null), {}, known('verified', 2_000, 2_000n), true],
    ['approves again, and orders nothing', verified1, {}, known('verified', 2_000, 1_000n), null],
    ['withdraws an approval', verified1, { word: 'rejected' }, known('rejected', 2_000, 2_000n), false],
    [
      'withdraws the approval also when the user may resubmit',
      verified1,
      { word: 'resubmit' },
      known('resubmit', 2_000, 2_000n),
      false,
    ],
    ['withdraws it when the provider resets', verified1, { word: 'reset' }, known('reset', 2_000, 2_000n), false],
    [
      'that resets a user counts at any level',
      verified1,
      { word: 'reset', level: 'other' },
      known('reset', 2_000, 2_000n),
      false,
    ],
    [
      'that rejects a user counts without a level',
      verified1,
      { word: 'rejected', level: null },
      known('rejected', 2_000, 2_000n),
      false,
    ],
    [
      'that resets a user counts without an environment',
      verified1,
      { word: 'reset', sandbox: null },
      known('reset', 2_000, 2_000n),
      false,
    ],
    [
      'that resets a user counts whatever its environment',
      verified1,
      { word: 'reset', sandbox: true },
      known('reset', 2_000, 2_000n),
      false,
    ],
    [
      'that rejects a user counts without an environment',
      verified1,
      { word: 'rejected', sandbox: null },
      known('rejected', 2_000, 2_000n),
      false,
    ],
    [
      'that permanently rejects a user counts at any level',
      verified1,
      { word: 'rejected', level: 'other', isFinal: true },
      known('rejected', 2_000, 2_000n),
      false,
    ],
    [
      'that permanently rejects, at another level, a user without a verdict is stored',
      undefined,
      { word: 'rejected', level: 'other', isFinal: true },
      known('rejected', 2_000, null),
      null,
    ],
    [
      'that approved before a reset counts again if it stands after it',
      known('reset', 3_000, 3_000n),
      { standingAtMs: 3_001 },
      known('verified', 3_001, 3_001n),
      true,
    ],
    [
      'that approved at the moment of the refuted approval counts again if it stands after it',
      known('reset', 2_000, 2_001n),
      { standingAtMs: 9_000 },
      known('verified', 9_000, 9_000n),
      true,
    ],
    [
      'that stands after a reset as one of a second wallet is stored so',
      known('reset', 3_000, 3_000n),
      { word: 'duplicate', standingAtMs: 3_001 },
      known('duplicate', 3_001, 3_000n),
      null,
    ],
    [
      'against the user wins at the same moment',
      known('verified', 2_000, 2_000n),
      { word: 'rejected' },
      known('rejected', 2_000, 2_001n),
      false,
    ],
    ['approves again after a withdrawal', known('rejected', 1_500, 1_500n), {}, known('verified', 2_000, 2_000n), true],
    ['never repeats a revision', known('rejected', 1_999, 2_000n), {}, known('verified', 2_000, 2_001n), true],
  ])('%s', (_, before, said, next, flag) => {
    expect(decideIdentity(before, statement(said), policy)).toEqual({ wallet, next, flag })
  })
})

describe('an identity statement is ignored', () => {
  const older = 'older than the verdict we have'
  test.each<[string, Identity | undefined, Partial<Statement>, string]>([
    ['when it is no verdict', undefined, { word: 'none', subjectRef: 'x' }, 'no verdict'],
    ['when it has no subject', undefined, { subjectRef: null }, 'unknown subject'],
    ['when its subject is not a wallet', undefined, { subjectRef: 'customer-7', level: 'x' }, 'unknown subject'],
    ['when the wallet is spelt otherwise', undefined, { subjectRef: wallet.toUpperCase() }, 'unknown subject'],
    // guard: an approval is for our verification level
    ['when it approves another level', undefined, { level: 'other', sandbox: true }, 'other level'],
    ['when it approves no level', undefined, { level: null }, 'other level'],
    ['when it refuses another level', known('verified', 1, 1n), { word: 'rejected', level: 'x' }, 'other level'],
    [
      'when it asks to resubmit at another level',
      known('verified', 1, 1n),
      { word: 'resubmit', level: 'x' },
      'other level',
    ],
    [
      'when it approves another level after a reset',
      known('reset', 1, 1n),
      { level: 'x', standingAtMs: 9 },
      'other level',
    ],
    [
      'when the sandbox permanently refuses at another level',
      known('verified', 1, 1n),
      { word: 'rejected', level: 'x', isFinal: true, sandbox: true },
      'other environment',
    ],
    ['when its approval stood only until a reset', known('reset', 3_000, 3_000n), { standingAtMs: 3_000 }, older],
    ['when its approval stands after a rejection', known('rejected', 3_000, null), { standingAtMs: 9_000 }, older],
    [
      'when its approval stands after a request to resubmit',
      known('resubmit', 3_000, null),
      { standingAtMs: 9_000 },
      older,
    ],
    [
      'when it resets a user before the look-up that found the approval again',
      known('verified', 9_000, 9_000n),
      { word: 'reset', occurredAtMs: 3_000 },
      older,
    ],
    ['security: when the sandbox approves and this is production', undefined, { sandbox: true }, 'other environment'],
    ['security: when an approval has no environment', undefined, { sandbox: null }, 'other environment'],
    [
      'when the sandbox refuses what production approved',
      known('verified', 1, 1n),
      { word: 'rejected', sandbox: true },
      'other environment',
    ],
    ['when the approval is older than the refusal', known('rejected', 2_001, null), {}, older],
    ['when the refusal is older than the approval', known('verified', 2_001, 1n), { word: 'rejected' }, older],
    ['when it is a replay', known('verified', 2_000, 2_000n), {}, older],
    ['when an approval comes at the moment of a refusal', known('rejected', 2_000, null), {}, older],
  ])('%s', (_, before, said, ignored) => {
    expect(decideIdentity(before, statement(said), policy)).toEqual({ ignored } as never)
  })
  test('unless it is an approval without an environment and the gateway runs in the sandbox', () => {
    const sandbox: IdentityPolicy = { ...policy, environment: 'sandbox' }
    expect(decideIdentity(undefined, statement({ sandbox: null }), sandbox)).toMatchObject({
      flag: true,
    })
  })
  test('when it is an approval in production and the gateway runs in the sandbox', () => {
    const sandbox: IdentityPolicy = { ...policy, environment: 'sandbox' }
    expect(decideIdentity(undefined, statement(), sandbox)).toEqual({
      ignored: 'other environment',
    })
  })
})

// guard: the newest verdict counts, even if an older one arrives later
test('the same verdicts end in the same state in any order', () => {
  const verdicts = [
    statement({ occurredAtMs: 1, word: 'approved' }),
    statement({ occurredAtMs: 2, word: 'rejected' }),
    statement({ occurredAtMs: 3, word: 'approved' }),
    statement({ occurredAtMs: 3, word: 'resubmit' }),
  ]
  const ends = permutations(verdicts).map((order) => {
    let identity: Identity | undefined
    for (const one of order) {
      const decision = decideIdentity(identity, one, policy)
      if ('next' in decision) identity = decision.next
    }
    return identity?.state
  })
  expect(new Set(ends)).toEqual(new Set(['resubmit']))
})

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const schedule: RecheckSchedule = {
  openMs: hour,
  openForMs: 3 * day,
  everyMs: day,
  forMs: 30 * day,
}
const nowMs = Date.UTC(2026, 10, 21, 7)
const ago = (ms: number) => new Date(nowMs - ms)
const nobody: KnownIdentity = { state: undefined, decidedAt: null, linkedAt: null }

describe('the gateway asks the identity provider again about', () => {
  test.each<[string, Partial<KnownIdentity>, number | null]>([
    ['a new link: hourly', { linkedAt: ago(0) }, hour],
    ['a link of two days: hourly', { linkedAt: ago(2 * day) }, hour],
    ['a link of three days: daily', { linkedAt: ago(3 * day) }, day],
    ['a link of 29 days: daily', { linkedAt: ago(29 * day) }, day],
    ['a link of 30 days: no more', { linkedAt: ago(30 * day) }, null],
    ['a user asked to resubmit: hourly', { state: 'resubmit', decidedAt: ago(hour) }, hour],
    ['a reset user: hourly', { state: 'reset', decidedAt: ago(hour) }, hour],
    ['a user reset long ago: daily', { state: 'reset', decidedAt: ago(5 * day) }, day],
    ['a permanently rejected user: daily', { state: 'rejected', decidedAt: ago(hour) }, day],
    ['a user rejected a month ago: never', { state: 'rejected', decidedAt: ago(31 * day) }, null],
    [
      'a rejected user with a newer link: hourly',
      { state: 'rejected', decidedAt: ago(31 * day), linkedAt: ago(hour) },
      hour,
    ],
    ['a user rejected after the link: daily', { state: 'rejected', decidedAt: ago(hour), linkedAt: ago(day) }, day],
    ['a verified user: daily', { state: 'verified', decidedAt: ago(hour) }, day],
    ['a user verified years ago: daily', { state: 'verified', decidedAt: ago(900 * day) }, day],
    ['a new second wallet: hourly', { state: 'duplicate', decidedAt: ago(hour) }, hour],
    [
      'a user approved years ago, who may be wrongly taken for another: daily',
      { state: 'duplicate', decidedAt: ago(900 * day) },
      day,
    ],
    ['a user without link or verdict: never', {}, null],
  ])('%s', (_, standing, restMs) => {
    const at = nextCheckAt({ ...nobody, ...standing }, schedule, nowMs)
    expect(at && at.getTime() - nowMs).toBe(restMs)
  })
})

describe('failed identity checks', () => {
  test.each([
    [1, 2 * minute],
    [2, 4 * minute],
    [5, 32 * minute],
    [6, hour],
    [1_000, hour],
  ])('%d in a row delay the next one, up to the usual interval', (failures, restMs) => {
    expect(retryAt(failures, schedule, nowMs).getTime() - nowMs).toBe(restMs)
  })
})

describe('an approval by webhook', () => {
  test.each<[string, Partial<Statement>, boolean]>([
    ['is looked up when it names no level', { level: null }, true],
    ['is looked up when it has no environment', { sandbox: null }, true],
    ['is accepted directly when it has both', {}, false],
  ])('%s', (_, said, asked) => {
    expect(needsAsking(statement(said))).toBe(asked)
    expect(needsAsking(statement({ ...said, word: 'rejected' }))).toBe(false)
  })
})
