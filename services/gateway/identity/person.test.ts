import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openLog } from '#platform/log'
import { openSandboxFixture, type SandboxFixture, testConfig } from '#test/support/sandbox'
import { outbox } from '../schema.store'
import { type Dependencies, startBackbone } from '../test-support/dependencies'
import { config, contextOf } from '../test-support/fixture'
import { walletOf } from '../test-support/wallets'
import { erasure } from '../users/erase'
import { identities } from './identity.store'
import { insertLink } from './link.store'
import { type Holding, judgePerson, type Ruling, type SamePerson } from './person'
import { ProviderDown } from './provider'
import { chooseIdentityProvider } from './providers/choose'
import { recheckOnce } from './recheck'
import { rechecks, recordLink } from './recheck.store'
import { answerRule, answerWithdraw } from './rule'
import { applyStatement } from './verdict'

type Wallet = `0x${string}`
const [ana, budi, citra] = ['a', 'b', 'c'].map((one) => `0x${one.repeat(40)}` as Wallet)
const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 7, minute))
const holding = (wallet: Wallet, minute: number | null): Holding => ({
  wallet,
  firstVerifiedAt: minute === null ? null : at(minute),
})
const own = (minute: number | null, ruling: Ruling | null = null) => ({
  ...holding(budi!, minute),
  ruling,
  linkedTo: ruling === 'linked' ? citra! : null,
})

describe('a person who is approved for a wallet', () => {
  test.each<[string, ReturnType<typeof own>, SamePerson, Holding[], unknown]>([
    ['has no other wallet', own(null), [], [], { alone: true }],
    ['has one that was verified', own(null), [ana!], [holding(ana!, 1)], { sameAs: ana! }],
    ['has one never verified', own(null), [ana!], [holding(ana!, null)], { alone: true }],
    ['was never seen with the other', own(null), [ana!], [], { alone: true }],
    ['was verified before the other', own(1), [ana!], [holding(ana!, 2)], { alone: true }],
    ['was verified after the other', own(2), [ana!], [holding(ana!, 1)], { sameAs: ana! }],
    ['was verified with it at once', own(1), [ana!], [holding(ana!, 1)], { sameAs: ana! }],
    ['is named by the other alone', own(null), [], [holding(ana!, 1)], { sameAs: ana! }],
    ['is an applicant who is not ours', own(null), [null], [], { sameAs: null }],
    ['is joined by such a one later', own(1), [null], [], { alone: true }],
    ['is unknown', own(null), 'unknown', [], 'unknown'],
    ['was allowed', own(null, 'allowed'), [ana!], [holding(ana!, 1)], { alone: true }],
    ['was allowed, and is unknown', own(null, 'allowed'), 'unknown', [], { alone: true }],
    ['was linked', own(1, 'linked'), [], [], { sameAs: citra! }],
    ['was withdrawn', own(1, 'withdrawn'), [], [], { withdrawn: true }],
    [
      'has one that was withdrawn',
      own(null),
      [ana!],
      [{ ...holding(ana!, null), isWithdrawn: true }],
      { sameAs: ana! },
    ],
    [
      'was verified, and has one withdrawn',
      own(1),
      [ana!],
      [{ ...holding(ana!, null), isWithdrawn: true }],
      { alone: true },
    ],
    ['was withdrawn, and is unknown', own(1, 'withdrawn'), 'unknown', [], { withdrawn: true }],
    ['was restored', own(1, 'restored'), [], [], { alone: true }],
    ['was restored, and has another', own(null, 'restored'), [ana!], [holding(ana!, 1)], { sameAs: ana! }],
    [
      'has two that were verified',
      own(null),
      [ana!, citra!],
      [holding(ana!, 2), holding(citra!, 1)],
      { sameAs: citra! },
    ],
  ])('and who %s', (_, me, same, others, verdict) => {
    expect(judgePerson(me, same, others)).toEqual(verdict as never)
  })
})

const kinds = ['sumsub', 'persona'] as const
let backbone: Dependencies
let sandbox: SandboxFixture
const log = openLog('suite', 'silent')
const apiKeys = { appToken: 'app-token', secretKey: 'secret-key' }

beforeAll(async () => {
  backbone = await startBackbone()
  sandbox = await openSandboxFixture({ identity: { ...testConfig.identity, ...apiKeys } })
})
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]()
  await backbone[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sandbox.control('faults', {})
  await backbone.database.run((db) => db.update(rechecks).set({ nextCheckAt: null }))
})

const level = testConfig.identity.level
const provider = (kind: (typeof kinds)[number]) =>
  chooseIdentityProvider(
    { ...config, identityProvider: kind, identityApiUrl: sandbox.url, identityLevel: level },
    Date.now,
  )
type Over = { findSamePerson?: () => Promise<readonly (Wallet | null)[]> }
const instance = (kind: (typeof kinds)[number], over: Over = {}) =>
  contextOf({
    config: { ...config, identityLevel: level, identityRechecksPerMinute: 1_000_000 },
    provider: { ...provider(kind), ...over },
    database: backbone.database,
    log,
    clock: Date.now,
  })
const round = (kind: (typeof kinds)[number], over: Over = {}) => recheckOnce(instance(kind, over))
const due = (wallet: Wallet) =>
  backbone.database.run((db) =>
    db
      .update(rechecks)
      .set({ nextCheckAt: new Date(0) })
      .where(eq(rechecks.wallet, wallet)),
  )

async function approved(kind: (typeof kinds)[number], person: string): Promise<Wallet> {
  const wallet = walletOf(privateKeyToAccount(generatePrivateKey()))
  const told = { provider: kind, verdict: 'approved', person }
  const { json } = await sandbox.control(`identity/${wallet}`, told)
  const providerRef = String(json.applicant_id)
  const asked = { wallet, provider: kind }
  await backbone.database.transaction(async (tx) => {
    await insertLink(tx, { ...asked, providerRef })
    await recordLink(tx, { ...asked, linkedAt: new Date(), nextCheckAt: new Date(0) })
  })
  return wallet
}
const rowOf = async (wallet: Wallet) =>
  (await backbone.database.read((db) => db.select().from(identities).where(eq(identities.wallet, wallet))))[0]
const stateOf = async (wallet: Wallet) => (await rowOf(wallet))?.state
const recheckOf = async (wallet: Wallet) =>
  (await backbone.database.read((db) => db.select().from(rechecks).where(eq(rechecks.wallet, wallet))))[0]!
const ordersOf = async (wallet: Wallet) => {
  const rows = await backbone.database.read((db) =>
    db.select().from(outbox).where(eq(outbox.subject, 'relay.verify')).orderBy(outbox.position),
  )
  const orders = rows.map(({ payload }) => payload as { wallet: string; verified: boolean })
  return orders.filter((order) => order.wallet === wallet).map(({ verified }) => verified)
}
const commandTo = (answer: typeof answerRule, asked: object) => {
  const command = randomUUID()
  const send = () =>
    answer(instance('sumsub')).answer({ command, by: 'sari', reason: 'ticket 7', ...asked }) as Promise<{
      ok: { done?: string; refused?: string }
    }>
  return { command, send }
}
const rule = (wallet: Wallet, linkedTo: Wallet | null, replaced: string | null = null) =>
  commandTo(answerRule, { wallet, linkedTo, replaced })
const withdraw = (wallet: Wallet, replaced: string | null = null, to: 'withdrawn' | 'restored' = 'withdrawn') =>
  commandTo(answerWithdraw, { wallet, to, replaced })
const down = () => Promise.reject(new ProviderDown('no response'))

describe.each(kinds)('with %s,', (kind) => {
  // guard: a person has one verified wallet
  test('a second wallet of a verified person is not verified, and names the first', async () => {
    const person = randomUUID()
    const first = await approved(kind, person)
    await round(kind)
    const second = await approved(kind, person)
    await round(kind)
    expect([await stateOf(first), await stateOf(second)]).toEqual(['verified', 'duplicate'])
    expect([(await rowOf(second))!.sameAs, await ordersOf(second)]).toEqual([first, []])
    await due(first)
    await round(kind)
    expect([await stateOf(first), await ordersOf(first)]).toEqual(['verified', [true]])
  })

  // guard: wallets of one person are judged one after another
  test('exactly one of two wallets that are approved at once is verified, by two instances', async () => {
    for (let turn = 0; turn < 5; turn++) {
      const person = randomUUID()
      const both = await Promise.all([approved(kind, person), approved(kind, person)])
      await Promise.all([round(kind), round(kind)])
      expect((await Promise.all(both.map(stateOf))).sort()).toEqual(['duplicate', 'verified'])
    }
  })

  test("a wallet's own earlier applicant and other persons are no duplicates", async () => {
    const first = await approved(kind, randomUUID())
    await approved(kind, randomUUID())
    await round(kind)
    await sandbox.control(`identity/${first}`, { provider: kind, verdict: 'approved' })
    await due(first)
    await round(kind)
    expect(await stateOf(first)).toBe('verified')
  })

  // guard: an approval waits until the provider has said who else is this person
  test('an approval waits while the question about duplicates is not answered', async () => {
    const wallet = await approved(kind, randomUUID())
    await round(kind, { findSamePerson: down })
    expect([await stateOf(wallet), await ordersOf(wallet)]).toEqual([undefined, []])
    const waiting = await recheckOf(wallet)
    expect([waiting.progress, waiting.failures]).toEqual(['submitted', 1])
    expect(waiting.nextCheckAt!.getTime()).toBeGreaterThan(Date.now())
    await due(wallet)
    await round(kind)
    expect([await stateOf(wallet), await ordersOf(wallet)]).toEqual(['verified', [true]])
  })

  test('the verdict of a verified wallet stays while the question is not answered', async () => {
    const wallet = await approved(kind, randomUUID())
    await round(kind)
    await due(wallet)
    await round(kind, { findSamePerson: down })
    expect([await stateOf(wallet), (await recheckOf(wallet)).failures]).toEqual(['verified', 0])
  })
})

describe('a wrong answer about duplicates', () => {
  test('that named none is corrected by a recheck: the second wallet is withdrawn, the first stays', async () => {
    const person = randomUUID()
    const none = { findSamePerson: async () => [] }
    const first = await approved('sumsub', person)
    await round('sumsub', none)
    const second = await approved('sumsub', person)
    await round('sumsub', none)
    expect([await stateOf(first), await stateOf(second)]).toEqual(['verified', 'verified'])
    await Promise.all([due(first), due(second)])
    await Promise.all([round('sumsub'), round('sumsub')])
    expect([await stateOf(first), await stateOf(second)]).toEqual(['verified', 'duplicate'])
    expect(await ordersOf(second)).toEqual([true, false])
  })

  test('that named another wallet is corrected by a recheck', async () => {
    const other = await approved('sumsub', randomUUID())
    await round('sumsub')
    const wallet = await approved('sumsub', randomUUID())
    await round('sumsub', { findSamePerson: async () => [other] })
    expect(await stateOf(wallet)).toBe('duplicate')
    await due(wallet)
    await round('sumsub')
    expect([await stateOf(wallet), (await rowOf(wallet))!.sameAs]).toEqual(['verified', null])
  })

  test('that is older than the other wallet does not verify both: the later one names the first', async () => {
    const person = randomUUID()
    const [early, late] = [await approved('sumsub', person), await approved('sumsub', person)]
    const wallets = async (due: Wallet) => (due === early ? [] : [early])
    const applied = async (wallet: Wallet) => {
      const context = instance('sumsub')
      const finding = await context.provider.lookUp(wallet, new Set())
      if (!('statement' in finding)) throw new Error('no statement')
      const same = await wallets(wallet)
      await backbone.database.transaction((tx) => applyStatement(tx, context, finding.statement, same))
    }
    await applied(late)
    await applied(early)
    expect([await stateOf(late), await stateOf(early)]).toEqual(['verified', 'duplicate'])
  })
})

describe('an operator', () => {
  test('allows a second wallet, which is then verified by a recheck, and takes it back', async () => {
    const person = randomUUID()
    const first = await approved('sumsub', person)
    await round('sumsub')
    const second = await approved('sumsub', person)
    await round('sumsub')
    const allow = rule(second, null)
    expect((await allow.send()).ok.done).toStartWith('allowed')
    expect(await stateOf(second)).toBe('duplicate')
    await round('sumsub', { findSamePerson: down })
    expect([await stateOf(first), await stateOf(second)]).toEqual(['verified', 'verified'])
    expect((await rule(second, first, allow.command).send()).ok.done).toContain(first)
    await round('sumsub')
    expect([await stateOf(first), await stateOf(second)]).toEqual(['verified', 'duplicate'])
    expect((await allow.send()).ok.refused).toContain('in between')
    expect(await ordersOf(second)).toEqual([true, false])
  })

  test('links a wallet that the provider does not name, and moves a record to another wallet', async () => {
    const [old, next] = [await approved('sumsub', randomUUID()), await approved('sumsub', randomUUID())]
    await round('sumsub')
    await rule(old, next).send()
    expect([await stateOf(old), await stateOf(next)]).toEqual(['duplicate', 'verified'])
    expect((await rowOf(old))!.sameAs).toBe(next)
  })

  test('links no wallet to one that is linked itself, which would leave the person without a verified wallet', async () => {
    const [one, two, three] = [
      await approved('sumsub', randomUUID()),
      await approved('sumsub', randomUUID()),
      await approved('sumsub', randomUUID()),
    ]
    await round('sumsub')
    const link = rule(one, two)
    await link.send()
    expect((await rule(two, one).send()).ok.refused).toBe(`${one} is linked to ${two} itself`)
    expect((await rule(three, one).send()).ok.refused).toBe(`${one} is linked to ${two} itself`)
    expect(await Promise.all([one, two, three].map(stateOf))).toEqual(['duplicate', 'verified', 'verified'])
    await rule(one, null, link.command).send()
    expect((await rule(two, one).send()).ok.done).toContain(one)
    await round('sumsub')
    expect(await Promise.all([one, two].map(stateOf))).toEqual(['verified', 'duplicate'])
  })

  // guard: a decision against a wallet takes effect at once
  test('withdraws a verification at once, also while the provider is down, and restores it', async () => {
    const wallet = await approved('sumsub', randomUUID())
    await round('sumsub')
    const withdrawal = withdraw(wallet)
    expect((await withdrawal.send()).ok.done).toStartWith('withdrawn')
    expect([await stateOf(wallet), await ordersOf(wallet)]).toEqual(['withdrawn', [true, false]])
    await round('sumsub')
    await due(wallet)
    await round('sumsub', { findSamePerson: down })
    expect([await stateOf(wallet), await ordersOf(wallet)]).toEqual(['withdrawn', [true, false]])
    expect((await withdraw(wallet, withdrawal.command, 'restored').send()).ok.done).toStartWith('restored')
    expect(await stateOf(wallet)).toBe('withdrawn')
    await round('sumsub')
    expect([await stateOf(wallet), await ordersOf(wallet)]).toEqual(['verified', [true, false, true]])
  })

  // guard: a wallet whose verification an operator withdrew is not verified by an approval
  test('withdraws the verification of a wallet before its first approval', async () => {
    const wallet = walletOf(privateKeyToAccount(generatePrivateKey()))
    expect((await withdraw(wallet).send()).ok.done).toStartWith('withdrawn')
    const said = { eventId: 'e', occurredAtMs: Date.now(), subjectRef: wallet, providerRef: null, level }
    await backbone.database.transaction((tx) =>
      applyStatement(tx, instance('sumsub'), { ...said, word: 'approved', sandbox: true }, []),
    )
    expect([await stateOf(wallet), await ordersOf(wallet)]).toEqual(['withdrawn', []])
  })

  // guard: a person whose verification an operator withdrew is not verified with another wallet
  test('security: withdraws the verification of a person, who is not verified with another wallet either', async () => {
    for (const isApprovedBefore of [true, false]) {
      const person = randomUUID()
      const first = await approved('sumsub', person)
      if (isApprovedBefore) await withdraw(first).send()
      await round('sumsub')
      if (!isApprovedBefore) await withdraw(first).send()
      const second = await approved('sumsub', person)
      await round('sumsub')
      expect([await stateOf(first), await stateOf(second)]).toEqual(['withdrawn', 'duplicate'])
      expect((await rowOf(second))!.sameAs).toBe(first)
      await rule(second, null).send()
      await round('sumsub')
      expect([await stateOf(first), await stateOf(second)]).toEqual(['withdrawn', 'verified'])
    }
  })

  test('security: withdraws a wallet before its person begins with another one', async () => {
    const person = randomUUID()
    const first = await approved('sumsub', person)
    await withdraw(first).send()
    await backbone.database.run((db) => db.update(rechecks).set({ nextCheckAt: null }))
    const second = await approved('sumsub', person)
    await round('sumsub')
    expect([await stateOf(first), await stateOf(second)]).toEqual([undefined, 'duplicate'])
  })

  test('withdraws a verification by an earlier provider, which is then not asked of the present one', async () => {
    const wallet = await approved('persona', randomUUID())
    await round('persona')
    const withdrawal = withdraw(wallet)
    expect((await withdrawal.send()).ok.done).toStartWith('withdrawn')
    expect([await stateOf(wallet), await ordersOf(wallet)]).toEqual(['withdrawn', [true, false]])
    expect([(await rowOf(wallet))!.provider, (await recheckOf(wallet)).provider]).toEqual(['persona', 'persona'])
  })

  test('takes a link back: the first of two wallets holds the record again', async () => {
    const [old, next] = [await approved('sumsub', randomUUID()), await approved('sumsub', randomUUID())]
    await round('sumsub')
    const link = rule(old, next)
    await link.send()
    expect(await stateOf(old)).toBe('duplicate')
    await withdraw(old, link.command, 'restored').send()
    await round('sumsub')
    expect([await stateOf(old), (await rowOf(old))!.sameAs]).toEqual(['verified', null])
  })

  test('decides once, however often the command arrives, and not about an unknown wallet', async () => {
    const wallet = await approved('sumsub', randomUUID())
    const allow = rule(wallet, null)
    const [first, again] = [await allow.send(), await allow.send()]
    expect(again).toEqual(first)
    const unknown = walletOf(privateKeyToAccount(generatePrivateKey()))
    expect((await rule(unknown, null).send()).ok.refused).toContain('never begun')
  })
})

// guard: only inquiries that we created name the wallets of a person
test('security: an inquiry that anyone opened under the wallet of another user does not make that user a duplicate', async () => {
  const person = randomUUID()
  const attacker = await approved('persona', person)
  await round('persona')
  const victim = walletOf(privateKeyToAccount(generatePrivateKey()))
  await sandbox.control(`identity/${victim}`, { provider: 'persona', verdict: 'approved', person })
  await due(attacker)
  await round('persona')
  expect(await rowOf(attacker)).toMatchObject({ state: 'verified', named: [] })
  const providerRef = 'inq_own'
  const link = { wallet: victim, provider: 'persona', providerRef }
  await backbone.database.run((db) => insertLink(db, link))
  const own = { eventId: 'e', occurredAtMs: Date.now(), subjectRef: victim, providerRef, level }
  await backbone.database.transaction((tx) =>
    applyStatement(tx, instance('persona'), { ...own, word: 'approved', sandbox: true }, []),
  )
  expect(await stateOf(victim)).toBe('verified')
})

test.each(kinds)(
  'security: a person whose data was erased is not verified with a second wallet by %s',
  async (kind) => {
    const person = randomUUID()
    const first = await approved(kind, person)
    await round(kind)
    await backbone.database.transaction(async (tx) => {
      for (const statement of erasure.empty(first)) await tx.execute(statement)
    })
    const second = await approved(kind, person)
    await round(kind)
    expect([await stateOf(first), await stateOf(second)]).toEqual(['reset', 'duplicate'])
    expect(await rowOf(first)).toMatchObject({ providerRef: null, named: [], sameAs: null })
  },
)
