import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac, randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { handler } from '#platform/bus/serve'
import { openLog } from '#platform/log'
import { ChainAccount } from '#shared/messages/chain'
import { refuse } from '#shared/refusals'
import { openSandboxFixture, type SandboxFixture, testConfig } from '#test/support/sandbox'
import { waitUntil } from '#test/support/wait'
import { outbox } from '../schema.store'
import { account } from '../test-support/bodies'
import { answerAs, type Dependencies, startBackbone, startGateway } from '../test-support/dependencies'
import { askOf, config, contextOf, webhookSecret } from '../test-support/fixture'
import { headerOf, walletOf } from '../test-support/wallets'
import { identityAnomalies } from './anomaly.store'
import { identities } from './identity.store'
import type { Finding, IdentityProvider } from './provider'
import { chooseIdentityProvider } from './providers/choose'
import { recheckOnce } from './recheck'
import { rechecks, recordLink } from './recheck.store'

type Wallet = `0x${string}`
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const apiKeys = { appToken: 'app-token', secretKey: 'secret-key' }

let backbone: Dependencies
let relayer: AsyncDisposable
/** Accounts on the chain that are not empty. */
const accounts = new Map<string, Partial<typeof account>>()
const unreadable = new Set<string>()
const accountOf = (wallet: string) => ({ ok: { ...account, ...clear, ...accounts.get(wallet), wallet } })
const clear = { drawn: '0', encumbered: '0', defaulted: false, frozen: false, cycle: null }
/** Sandbox whose webhooks never reach the gateway. */
let sandbox: SandboxFixture
let gateway: Awaited<ReturnType<typeof startGateway>>
const logged: { msg: string; alarm?: boolean; wallet?: string }[] = []
const log = openLog('suite', 'info', { write: (line) => void logged.push(JSON.parse(line)) })

beforeAll(async () => {
  backbone = await startBackbone()
  sandbox = await openSandboxFixture({ identity: { ...testConfig.identity, ...apiKeys } })
  relayer = await answerAs(backbone, 'chain-relayer', [
    handler(ChainAccount, async ({ wallet }) =>
      unreadable.has(wallet) ? refuse('chain_unavailable') : (accountOf(wallet) as never),
    ),
  ])
  // The gateway only serves webhooks and links: the suite runs the rounds itself, once the gateway's first one is over.
  const due = await linked()
  gateway = await startGateway(backbone, { identityApiUrl: sandbox.url, recheckEveryMs: day })
  await waitUntil("the gateway's first round", async () => {
    const nextCheckAt = (await recheckOf(due))?.nextCheckAt
    return !nextCheckAt || nextCheckAt.getTime() > Date.now() + 2 * minute
  })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await relayer[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  await backbone[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sandbox.control('faults', {})
  await backbone.database.run((db) => db.update(rechecks).set({ nextCheckAt: null }))
  logged.length = 0
})

type Round = { aheadMs?: number; perMinute?: number; lookUp?: IdentityProvider['lookUp'] }
async function round({ aheadMs = 0, perMinute = 1_000, lookUp }: Round = {}): Promise<Wallet[]> {
  const provider = real()
  const asked: Wallet[] = []
  await recheckOnce(
    contextOf({
      config: {
        ...config,
        identityLevel: testConfig.identity.level,
        identityRechecksPerMinute: perMinute,
        identityRecheckOpenMs: hour,
        identityRecheckMs: day,
        recheckAfterMs: minute,
        recheckEveryMs: minute,
      },
      provider: {
        ...provider,
        lookUp: (wallet, ownRefs) => {
          asked.push(wallet)
          return (lookUp ?? provider.lookUp)(wallet, ownRefs)
        },
      },
      database: backbone.database,
      ask: askOf({ 'chain.account': ({ wallet }: { wallet: string }) => accountOf(wallet) }).ask,
      clock: () => Date.now() + aheadMs,
      log,
    }),
  )
  return asked
}
const real = () =>
  chooseIdentityProvider({ ...config, identityApiUrl: sandbox.url, identityLevel: testConfig.identity.level }, Date.now)

const newWallet = (): Wallet => walletOf(privateKeyToAccount(generatePrivateKey()))
const decide = (wallet: Wallet, verdict: string) => sandbox.control(`identity/${wallet}`, { verdict })
const one = <T>(rows: T[]) => rows[0]
const identityOf = async (wallet: Wallet) =>
  one(await backbone.database.read((db) => db.select().from(identities).where(eq(identities.wallet, wallet))))
const recheckOf = async (wallet: Wallet) =>
  one(await backbone.database.read((db) => db.select().from(rechecks).where(eq(rechecks.wallet, wallet))))
const ordersOf = async (wallet: Wallet) => {
  const rows = await backbone.database.read((db) =>
    db.select().from(outbox).where(eq(outbox.subject, 'relay.verify')).orderBy(outbox.position),
  )
  const orders = rows.map(({ payload }) => payload as { wallet: string; verified: boolean })
  return orders.filter((order) => order.wallet === wallet).map(({ verified }) => verified)
}
async function linked(agoMs = hour, provider = 'sumsub'): Promise<Wallet> {
  const wallet = newWallet()
  const linkedAt = new Date(Date.now() - agoMs)
  const link = { wallet, provider, linkedAt, nextCheckAt: linkedAt }
  await backbone.database.run((db) => recordLink(db, link))
  return wallet
}
async function verified(): Promise<Wallet> {
  const wallet = await linked()
  await decide(wallet, 'approved')
  await round()
  return wallet
}
async function deliver(wallet: Wallet, atMs: number, event: object): Promise<void> {
  const body = JSON.stringify({
    reviewStatus: 'completed',
    applicantId: 'applicant',
    correlationId: randomBytes(6).toString('hex'),
    externalUserId: wallet,
    levelName: testConfig.identity.level,
    sandboxMode: true,
    createdAtMs: new Date(atMs).toISOString().replace('T', ' ').replace('Z', ''),
    ...event,
  })
  const digest = createHmac('sha256', webhookSecret).update(body).digest('hex')
  const headers = { 'x-payload-digest': digest, 'x-payload-digest-alg': 'HMAC_SHA256_HEX' }
  await fetch(`${gateway.url}/webhooks/identity`, { method: 'POST', body, headers })
}
async function tell(wallet: Wallet, answer: 'GREEN' | 'RED', atMs: number): Promise<void> {
  await deliver(wallet, atMs, { type: 'applicantReviewed', reviewResult: { reviewAnswer: answer } })
  await waitUntil('the webhook being handled', async () => {
    const row = await identityOf(wallet)
    return row?.decidedAt.getTime() === atMs
  })
}

describe('a user with a link', () => {
  test('is looked up although the clock was set back since the recheck was planned', async () => {
    await linked(-day)
    const late = await linked(-2 * day - hour)
    expect(await round()).toEqual([late])
  })

  test('is looked up an hour later, and an approval without a webhook sets the flag', async () => {
    const who = privateKeyToAccount(generatePrivateKey())
    const wallet = walletOf(who)
    const headers = { authorization: await headerOf(who, Math.floor(Date.now() / 1000) + 3_600) }
    const link = await fetch(`${gateway.url}/me/verification`, { method: 'POST', headers })
    expect(((await link.json()) as { url: string }).url).toStartWith(sandbox.url)
    await decide(wallet, 'approved')
    expect(await round({ aheadMs: hour - minute })).toEqual([])
    expect(await round({ aheadMs: hour + minute })).toEqual([wallet])
    expect(await identityOf(wallet)).toMatchObject({ state: 'verified', flagSettledAt: null })
    expect(await ordersOf(wallet)).toEqual([true])
  })
  test('is looked up once more after a second link', async () => {
    const wallet = await linked(40 * day)
    await round()
    expect((await recheckOf(wallet))?.nextCheckAt).toBeNull()
    const link = { wallet, provider: 'sumsub', linkedAt: new Date(), nextCheckAt: new Date() }
    await Promise.all([1, 2].map(() => backbone.database.run((db) => recordLink(db, link))))
    expect(await round()).toEqual([wallet])
    expect(await round()).toEqual([])
  })
  test.each(['pending', 'awaiting_service'])('with the check %s is not verified', async (verdict) => {
    const wallet = await linked()
    await decide(wallet, verdict)
    expect(await round()).toEqual([wallet])
    expect(await identityOf(wallet)).toBeUndefined()
    expect(await recheckOf(wallet)).toMatchObject({ failures: 0 })
  })
  test('still unknown to the provider is looked up again, without an alert', async () => {
    const wallet = await linked()
    await round()
    const row = await recheckOf(wallet)
    expect(Math.round((row!.nextCheckAt!.getTime() - Date.now()) / minute)).toBe(60)
    expect(logged.filter(({ alarm }) => alarm)).toEqual([])
  })
})

describe('a verified user', () => {
  test('is looked up a day later, and a rejection without a webhook withdraws the flag', async () => {
    const wallet = await verified()
    await decide(wallet, 'rejected')
    expect(await round({ aheadMs: day - hour })).toEqual([])
    expect(await round({ aheadMs: day + minute })).toEqual([wallet])
    expect(await identityOf(wallet)).toMatchObject({ state: 'rejected' })
    expect(await ordersOf(wallet)).toEqual([true, false])
  })
  test.each([
    ['retry', 'resubmit'],
    ['reset', 'reset'],
    ['deactivated', 'reset'],
  ])('loses the flag after %s', async (verdict, state) => {
    const wallet = await verified()
    await decide(wallet, verdict)
    await round({ aheadMs: 2 * day })
    expect(await identityOf(wallet)).toMatchObject({ state })
    expect(await ordersOf(wallet)).toEqual([true, false])
    await round({ aheadMs: 4 * day })
    expect(await ordersOf(wallet)).toEqual([true, false])
  })
  test('keeps the flag while another check is in progress', async () => {
    const wallet = await verified()
    await decide(wallet, 'pending')
    await round({ aheadMs: 2 * day })
    expect(await identityOf(wallet)).toMatchObject({ state: 'verified' })
  })
  test('deleted by the provider keeps the flag and raises an alert', async () => {
    const wallet = await verified()
    await decide(wallet, 'deleted')
    await round({ aheadMs: 2 * day })
    expect(await identityOf(wallet)).toMatchObject({ state: 'verified' })
    expect(await ordersOf(wallet)).toEqual([true])
    expect(logged.filter(({ alarm }) => alarm)).toMatchObject([
      { wallet, msg: 'verified wallet unknown to identity provider' },
    ])
    expect((await recheckOf(wallet))?.nextCheckAt).not.toBeNull()
  })
  test('is not ordered or written again by an unchanged look-up', async () => {
    const wallet = await verified()
    const before = await identityOf(wallet)
    for (const days of [2, 4, 6]) expect(await round({ aheadMs: days * day })).toEqual([wallet])
    expect(await identityOf(wallet)).toEqual(before!)
    expect(await ordersOf(wallet)).toEqual([true])
  })
  test('is verified again after a withdrawal', async () => {
    const wallet = await verified()
    await decide(wallet, 'reset')
    await round({ aheadMs: 2 * day })
    // The approval is two seconds later by the provider's clock, whose times are known to the second.
    await sandbox.control(`identity/${wallet}`, { verdict: 'approved', ageMs: -2_000 })
    await round({ aheadMs: 4 * day })
    expect(await ordersOf(wallet)).toEqual([true, false, true])
  })
})

describe('a user whose applicant was deactivated', () => {
  const suspended = async () => {
    const wallet = await verified()
    await decide(wallet, 'deactivated')
    await deliver(wallet, Date.now(), { type: 'applicantDeactivated' })
    await waitUntil('the reset', async () => (await identityOf(wallet))?.state === 'reset')
    return wallet
  }

  test('is verified again by the look-up that the activation causes, and stays so', async () => {
    const wallet = await suspended()
    await backbone.database.run((db) =>
      db.update(rechecks).set({ nextCheckAt: null }).where(eq(rechecks.wallet, wallet)),
    )
    await decide(wallet, 'activated')
    await deliver(wallet, Date.now(), { type: 'applicantActivated' })
    await waitUntil('the look-up being planned', async () => (await recheckOf(wallet))?.nextCheckAt !== null)
    expect(await round()).toEqual([wallet])
    expect(await identityOf(wallet)).toMatchObject({ state: 'verified' })
    expect(await ordersOf(wallet)).toEqual([true, false, true])
    await deliver(wallet, Date.now() - minute, { type: 'applicantDeactivated' })
    await round({ aheadMs: 2 * day })
    expect(await identityOf(wallet)).toMatchObject({ state: 'verified' })
  })
  test('is verified again by the next look-up if the webhook of the activation is lost', async () => {
    const wallet = await suspended()
    await decide(wallet, 'activated')
    await round({ aheadMs: hour + minute })
    expect(await ordersOf(wallet)).toEqual([true, false, true])
  })
  test('is verified again if a look-up, not a webhook, found the deactivation', async () => {
    const wallet = await verified()
    await decide(wallet, 'deactivated')
    await round({ aheadMs: 2 * day })
    await decide(wallet, 'activated')
    await round({ aheadMs: 4 * day })
    expect(await ordersOf(wallet)).toEqual([true, false, true])
  })
  test('is not verified by a look-up that began before the deactivation', async () => {
    const wallet = await verified()
    const lookUp = async (asked: Wallet) => {
      const finding = await real().lookUp(asked, new Set())
      await deliver(wallet, Date.now() + minute, { type: 'applicantDeactivated' })
      await waitUntil('the reset', async () => (await identityOf(wallet))?.state === 'reset')
      return finding
    }
    await round({ aheadMs: 2 * day, perMinute: 1, lookUp })
    expect(await ordersOf(wallet)).toEqual([true, false])
  })
  test('is not verified again after a reset of the review', async () => {
    const wallet = await verified()
    await decide(wallet, 'reset')
    await deliver(wallet, Date.now(), { type: 'applicantReset', reviewStatus: 'init' })
    await waitUntil('the reset', async () => (await identityOf(wallet))?.state === 'reset')
    await round({ aheadMs: hour + minute })
    expect(await ordersOf(wallet)).toEqual([true, false])
  })
})

test('a user who is permanently rejected at another level loses the flag by the look-up', async () => {
  const wallet = await verified()
  await sandbox.control(`identity/${wallet}`, { verdict: 'rejected', levelName: 'enhanced' })
  await round({ aheadMs: 2 * day })
  expect(await identityOf(wallet)).toMatchObject({ state: 'rejected' })
  expect(await ordersOf(wallet)).toEqual([true, false])
})

describe('a user whose data the provider deletes', () => {
  const reported = async (wallet: Wallet) => {
    const rows = await backbone.database.read((db) => db.select().from(identityAnomalies))
    return rows
      .filter(({ deliveryId, kind }) => kind === 'forgotten' && deliveryId.endsWith(wallet))
      .map((one) => one.detail)
  }
  const claims: [string, Partial<typeof account>][] = [
    ['owes', { drawn: '1' }],
    ['has defaulted and owes nothing', { defaulted: true }],
    ['repaid with money that can be reversed', { encumbered: '5' }],
    ['is frozen', { frozen: true }],
  ]
  test.each(claims)('is reported to operators by the webhook if the wallet %s', async (_case, over) => {
    const wallet = await verified()
    accounts.set(wallet, over)
    await deliver(wallet, Date.now(), { type: 'applicantDeleted' })
    await waitUntil('the report', async () => (await reported(wallet)).length === 1)
    expect(await identityOf(wallet)).toMatchObject({ state: 'reset' })
  })
  test('is reported once by the look-ups if the webhook is lost', async () => {
    const wallet = await verified()
    accounts.set(wallet, { drawn: '2000000' })
    await decide(wallet, 'deleted')
    for (const days of [2, 4]) await round({ aheadMs: days * day })
    expect(await reported(wallet)).toEqual(['the wallet owes 2000000 micro-AUSD'])
    const lines = logged.filter(({ alarm, msg }) => alarm && msg.startsWith('identity deleted'))
    expect(lines).toMatchObject([{ wallet }])
  })
  test('is reported although the wallet was not verified any more', async () => {
    const wallet = await verified()
    accounts.set(wallet, { defaulted: true })
    await decide(wallet, 'rejected')
    await round({ aheadMs: 2 * day })
    await decide(wallet, 'deleted')
    await round({ aheadMs: 4 * day })
    expect(await reported(wallet)).toEqual(['the wallet has defaulted'])
  })
  test('is reported by the webhook if the chain cannot be read', async () => {
    const wallet = await verified()
    unreadable.add(wallet)
    await deliver(wallet, Date.now(), { type: 'applicantDeleted' })
    await waitUntil('the report', async () => (await reported(wallet)).length === 1)
    expect((await reported(wallet))[0]).toStartWith('the credit line could not be read')
    expect(await identityOf(wallet)).toMatchObject({ state: 'reset' })
  })
  test('is not reported if the wallet was never verified', async () => {
    const wallet = await linked()
    accounts.set(wallet, { frozen: true })
    await deliver(wallet, Date.now(), { type: 'applicantDeleted' })
    await waitUntil('the reset', async () => (await identityOf(wallet))?.state === 'reset')
    expect(await reported(wallet)).toEqual([])
  })
  test('is not reported without a claim, nor if the applicant is only deactivated', async () => {
    const [clean, owing] = [await verified(), await verified()]
    accounts.set(owing, { drawn: '1' })
    await deliver(clean, Date.now(), { type: 'applicantDeleted' })
    await deliver(owing, Date.now(), { type: 'applicantDeactivated' })
    for (const wallet of [clean, owing])
      await waitUntil('the reset', async () => (await identityOf(wallet))?.state === 'reset')
    expect([await reported(clean), await reported(owing)]).toEqual([[], []])
  })
})

describe('a webhook and a look-up', () => {
  test('alternate: a user verified by webhook is looked up a day later', async () => {
    const wallet = newWallet()
    const at = Date.now() - 2 * minute
    await tell(wallet, 'GREEN', at)
    await decide(wallet, 'rejected')
    expect(await round({ aheadMs: day - hour })).toEqual([])
    expect(await round({ aheadMs: day + minute })).toEqual([wallet])
    expect(await ordersOf(wallet)).toEqual([true, false])
  })
  test('with the same approval order the flag once, in either order', async () => {
    const wallet = await verified()
    const { decidedAt } = (await identityOf(wallet))!
    await tell(wallet, 'GREEN', decidedAt.getTime() + 300)
    await round({ aheadMs: 2 * day })
    expect(await ordersOf(wallet)).toEqual([true])
  })
  test("with the older verdict in the look-up keep the webhook's verdict", async () => {
    const wallet = await linked()
    await decide(wallet, 'approved')
    await tell(wallet, 'RED', Date.now() + minute)
    await round()
    expect(await identityOf(wallet)).toMatchObject({ state: 'rejected' })
    expect(await ordersOf(wallet)).toEqual([])
  })
  test('that overlap keep the newer verdict of the webhook', async () => {
    const wallet = await verified()
    await decide(wallet, 'deactivated')
    const again = Date.now() + minute
    const lookUp = async (asked: Wallet) => {
      const finding = await real().lookUp(asked, new Set())
      await tell(wallet, 'GREEN', again)
      return finding
    }
    await round({ aheadMs: 2 * day, perMinute: 1, lookUp })
    expect(await identityOf(wallet)).toMatchObject({ state: 'verified' })
    expect(await ordersOf(wallet)).toEqual([true])
  })
})

describe('an identity provider that fails', () => {
  test('changes no verdict and is asked again soon', async () => {
    const wallet = await verified()
    const before = await identityOf(wallet)
    await decide(wallet, 'rejected')
    await sandbox.control('faults', { api: { errorRate: 1 } })
    expect(await round({ aheadMs: 2 * day })).toEqual([wallet])
    expect(await identityOf(wallet)).toEqual(before!)
    expect(await recheckOf(wallet)).toMatchObject({ failures: 1 })
    await sandbox.control('faults', {})
    expect(await round({ aheadMs: 2 * day + minute })).toEqual([])
    expect(await round({ aheadMs: 2 * day + 3 * minute })).toEqual([wallet])
    expect(await identityOf(wallet)).toMatchObject({ state: 'rejected' })
    await round({ aheadMs: 5 * day })
    expect(await recheckOf(wallet)).toMatchObject({ failures: 0 })
  })
  test('is skipped for the rest of the round, and every wallet keeps its turn', async () => {
    const wallets = await Promise.all(Array.from({ length: 10 }, () => linked()))
    await sandbox.control('faults', { api: { errorRate: 1 } })
    const asked = await round()
    expect(asked).toHaveLength(4)
    await sandbox.control('faults', {})
    const later = await round()
    expect([...asked, ...later].sort()).toEqual([...wallets].sort())
  })
  test('gets no look-up for users of another provider', async () => {
    await linked(hour, 'persona')
    expect(await round()).toEqual([])
  })
})

describe('a round of look-ups', () => {
  test('starts with the longest waiting users and stays within the budget', async () => {
    const waiting: Wallet[] = []
    for (const hours of [9, 8, 7, 6, 5, 4]) waiting.push(await linked(hours * hour))
    expect((await round({ perMinute: 4 })).sort()).toEqual(waiting.slice(0, 4).sort())
    expect((await round({ perMinute: 4 })).sort()).toEqual(waiting.slice(4).sort())
  })
  test('security: starts with users who have a verdict, however many others have a link', async () => {
    const known = await verified()
    for (const hours of [9, 8, 7, 6, 5, 4]) await linked(hours * hour)
    expect(await round({ perMinute: 4, aheadMs: day + minute })).toContain(known)
    await round({ aheadMs: day + minute })
  })
  test('shares all users with a concurrent round of another instance', async () => {
    const wallets = await Promise.all(Array.from({ length: 30 }, () => linked()))
    const asked = (await Promise.all([round(), round()])).flat()
    expect(asked.sort()).toEqual(wallets.sort())
  })
  test('takes over from an instance that died during a look-up', async () => {
    const wallet = await linked()
    const dead = unanswered()
    const ending = round({ lookUp: dead.lookUp })
    await dead.asked
    expect(await round({ aheadMs: minute })).toEqual([])
    expect(await round({ aheadMs: 3 * minute })).toEqual([wallet])
    dead.fail(new Error('its process is gone'))
    await ending
  })
  test("of a stale instance does not overwrite the next instance's lease", async () => {
    await linked()
    const [late, successor] = [unanswered(), unanswered()]
    const ending = round({ lookUp: late.lookUp })
    await late.asked
    const succeeding = round({ aheadMs: 3 * minute, lookUp: successor.lookUp })
    await successor.asked
    late.fail(new Error('the connection was lost'))
    await ending
    expect(await round({ aheadMs: 4 * minute })).toEqual([])
    successor.fail(new Error('the suite is over'))
    await succeeding
  })
})

function unanswered() {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Finding>()
  const lookUp = () => {
    asked.resolve()
    return answer.promise
  }
  return { lookUp, asked: asked.promise, fail: answer.reject }
}
