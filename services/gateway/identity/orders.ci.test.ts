import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac, randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { asker } from '#platform/bus/ask'
import { handler } from '#platform/bus/serve'
import { openLog } from '#platform/log'
import { journeyWei, lastCallWei } from '#shared/chain/gas'
import { ChainAccount } from '#shared/messages/chain'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import { refuse } from '#shared/refusals'
import { waitUntil } from '#test/support/wait'
import { inbox, outbox } from '../schema.store'
import { account } from '../test-support/bodies'
import { answerAs, type Dependencies, startBackbone, startGateway } from '../test-support/dependencies'
import { config, contextOf, webhookSecret } from '../test-support/fixture'
import { headerOf, walletOf } from '../test-support/wallets'
import { identities } from './identity.store'
import { dripOrderId, dripRepeatId, flagCause, flagOrderId, sweepOnce } from './orders'
import { openRefills } from './refill'

let backbone: Dependencies
let gateway: Awaited<ReturnType<typeof startGateway>>
let relayer: Awaited<ReturnType<typeof answerAs>>
const onChain = new Map<string, { verified: boolean; native: string }>()
/** Work that runs while the relayer reads the chain for the wallet. */
const meanwhile = new Map<string, () => Promise<unknown>>()
const unreadable = new Set<string>()

beforeAll(async () => {
  backbone = await startBackbone()
  relayer = await answerAs(backbone, 'chain-relayer', [
    handler(ChainAccount, async ({ wallet }) => {
      await meanwhile.get(wallet)?.()
      if (unreadable.has(wallet)) return refuse('chain_unavailable')
      const { verified, native } = onChain.get(wallet) ?? { verified: false, native: '0' }
      return { ok: { ...account, wallet, verified, balance: { ausd: '0', native } } }
    }),
  ])
  gateway = await startGateway(backbone)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await relayer[Symbol.asyncDispose]()
  await backbone[Symbol.asyncDispose]()
})

const freshWallet = () => privateKeyToAccount(generatePrivateKey())
const hour = () => Math.floor(Date.now() / 1000) + 3_600

function review(wallet: string, answer: 'GREEN' | 'RED', atMs = Date.now()): Promise<Response> {
  const body = JSON.stringify({
    type: 'applicantReviewed',
    reviewStatus: 'completed',
    applicantId: 'applicant',
    correlationId: randomBytes(6).toString('hex'),
    externalUserId: wallet,
    levelName: 'basic-kyc-level',
    sandboxMode: true,
    createdAtMs: new Date(atMs).toISOString().replace('T', ' ').replace('Z', ''),
    reviewResult: {
      reviewAnswer: answer,
      reviewRejectType: answer === 'RED' ? 'FINAL' : undefined,
    },
  })
  const digest = createHmac('sha256', webhookSecret).update(body).digest('hex')
  const headers = { 'x-payload-digest': digest, 'x-payload-digest-alg': 'HMAC_SHA256_HEX' }
  return fetch(`${gateway.url}/webhooks/identity`, { method: 'POST', body, headers })
}

const published = (id: string) =>
  waitUntil(`message ${id}`, async () => {
    const [row] = await backbone.database.read((db) => db.select().from(outbox).where(eq(outbox.id, id)))
    return row?.publishedAt ? row : undefined
  })
const identityOf = async (wallet: `0x${string}`) => {
  const rows = await backbone.database.read((db) => db.select().from(identities).where(eq(identities.wallet, wallet)))
  return rows[0]
}
const becomes = (wallet: `0x${string}`, state: string) =>
  waitUntil(`${wallet} ${state}`, async () => {
    const row = await identityOf(wallet)
    return row?.state === state ? row : undefined
  })
const stored = async (id: string) =>
  (await backbone.database.read((db) => db.select().from(outbox).where(eq(outbox.id, id)))).length
const minuteMs = 60_000
/** Lines of alarms, by wallet. */
const raised = new Map<string, string[]>()
const log = openLog('suite', 'error', {
  write: (line) => {
    const { alarm, msg, wallet } = JSON.parse(line)
    if (alarm) raised.set(wallet, [...(raised.get(wallet) ?? []), msg])
  },
})

async function sweepLater(aheadMs: number): Promise<void> {
  await using bus = await backbone.busAs('gateway')
  await sweepOnce(
    contextOf({
      log,
      config: { ...config, recheckAfterMs: minuteMs },
      database: backbone.database,
      ask: asker(bus),
      clock: () => Date.now() + aheadMs + 1_000,
    }),
  )
}
const settle = (wallet: `0x${string}`, revision: bigint) =>
  relayer.tell(relaySettled('verify'), {
    operationId: 'op_1',
    cause: flagCause(wallet, revision),
    wallet,
    txHash: `0x${'11'.repeat(32)}`,
    blockNumber: '5',
  })
/** Outcome of a drip to a wallet that had coin already. */
const dripped = (wallet: `0x${string}`) => ({
  operationId: 'op_2',
  cause: wallet,
  wallet,
  txHash: null,
  blockNumber: null,
})

describe('an identity', () => {
  test('is verified on the chain after approval, then given native coin once', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now()
    expect(await (await review(wallet, 'GREEN', at)).json()).toEqual({ status: 'recorded' })
    const order = await published(flagOrderId(wallet, BigInt(at)))
    expect(order.payload).toEqual({ wallet, verified: true, revision: String(at) })
    await settle(wallet, BigInt(at))
    await settle(wallet, BigInt(at))
    expect((await published(dripOrderId(wallet))).payload).toEqual({ wallet })
    await relayer.tell(relaySettled('drip'), dripped(wallet))
    const row = await waitUntil('the drip', async () => {
      const seen = await identityOf(wallet)
      return seen?.dripSettledAt ? seen : undefined
    })
    expect(row).toMatchObject({ state: 'verified', checkAt: null })
  })
  // guard: a wallet gets its native coin once
  test('that is withdrawn and approved again is ordered each time, and dripped once', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now() - 10_000
    let firstDrip: Date | null | undefined
    for (const [step, answer] of (['GREEN', 'RED', 'GREEN'] as const).entries()) {
      await review(wallet, answer, at + step)
      const order = await published(flagOrderId(wallet, BigInt(at + step)))
      expect(order.payload).toMatchObject({ verified: answer === 'GREEN' })
      await settle(wallet, BigInt(at + step))
      await waitUntil('the flag', async () => (await identityOf(wallet))?.flagSettledAt)
      firstDrip ??= (await identityOf(wallet))?.dripOrderedAt
    }
    const row = await identityOf(wallet)
    expect(row?.dripOrderedAt).toEqual(firstDrip!)
    expect(row?.checkAt).not.toBeNull() // The drip was never reported, so it is still awaited.
    const all = await backbone.database.read((db) => db.select().from(outbox).where(eq(outbox.subject, 'relay.drip')))
    expect(all.filter((row) => (row.payload as { wallet: string }).wallet === wallet)).toHaveLength(1)
  })
  // guard: an outcome on the chain belongs to the newest order
  test('is not withdrawn on the chain by the settlement of an earlier order', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now() - 10_000
    await review(wallet, 'GREEN', at)
    await published(flagOrderId(wallet, BigInt(at)))
    await review(wallet, 'RED', at + 1)
    await published(flagOrderId(wallet, BigInt(at + 1)))
    const handled = async () => (await backbone.database.read((db) => db.select().from(inbox))).length
    const before = await handled()
    await settle(wallet, BigInt(at))
    await waitUntil('the outcome of the first', async () => (await handled()) > before)
    expect(await identityOf(wallet)).toMatchObject({ state: 'rejected', flagSettledAt: null })
    await settle(wallet, BigInt(at + 1))
    await waitUntil('that of the second', async () => (await identityOf(wallet))?.flagSettledAt)
  })
  test('stays rejected when an older approval arrives after the rejection', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now() - 10_000
    await review(wallet, 'RED', at + 1)
    await becomes(wallet, 'rejected')
    const handled = async () => (await backbone.database.read((db) => db.select().from(inbox))).length
    const before = await handled()
    await review(wallet, 'GREEN', at)
    await waitUntil('the late approval', async () => (await handled()) > before)
    expect(await identityOf(wallet)).toMatchObject({ state: 'rejected', revision: null })
  })
  test('is marked for manual review when the relayer fails its order', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now()
    await review(wallet, 'GREEN', at)
    await published(flagOrderId(wallet, BigInt(at)))
    await relayer.tell(relayFailed('verify'), {
      operationId: 'op',
      cause: flagCause(wallet, BigInt(at)),
      wallet,
      reason: 'reverted',
    })
    const row = await waitUntil('the failure', async () => {
      const seen = await identityOf(wallet)
      return seen?.failedAt ? seen : undefined
    })
    expect(row).toMatchObject({ failure: 'reverted', checkAt: null, dripOrderedAt: null })
  })
  test('whose withdrawal fails still has its drip ordered again', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now() - 10_000
    await review(wallet, 'GREEN', at)
    await published(flagOrderId(wallet, BigInt(at)))
    await settle(wallet, BigInt(at))
    await published(dripOrderId(wallet))
    await review(wallet, 'RED', at + 1)
    await published(flagOrderId(wallet, BigInt(at + 1)))
    await relayer.tell(relayFailed('verify'), {
      operationId: 'op',
      cause: flagCause(wallet, BigInt(at + 1)),
      wallet,
      reason: 'reverted',
    })
    await waitUntil('the failure', async () => (await identityOf(wallet))?.failedAt)
    onChain.set(wallet, { verified: true, native: '0' })
    await sweepLater(minuteMs)
    await published(dripRepeatId(wallet, BigInt(at + 1), 1))
    expect(await stored(flagOrderId(wallet, BigInt(at + 1), 1))).toBe(0)
    onChain.set(wallet, { verified: true, native: '5' })
    await sweepLater(4 * minuteMs)
    expect(await identityOf(wallet)).toMatchObject({ checkAt: null, flagSettledAt: null })
  })
  describe('that is short of native coin', () => {
    const day = '2026-11-28'
    const at = Date.parse(`${day}T22:59:59Z`)
    const openOne = (now = { at }) =>
      openRefills({ database: backbone.database, clock: () => now.at, log: contextOf().log, poke: () => {} })
    const short = (wallet: `0x${string}`, native = '0') => ({ ...account, wallet, balance: { ausd: '0', native } })
    const ordersOf = async (wallet: string) => {
      const rows = await backbone.database.read((db) =>
        db.select().from(outbox).where(sql`${outbox.payload} ->> 'wallet' = ${wallet}`).orderBy(outbox.createdAt),
      )
      return rows.map(({ payload }) => payload)
    }

    test('has one refill ordered in an hour, by any number of instances', async () => {
      const wallet = walletOf(freshWallet())
      const orders = [openOne(), openOne()]
      for (const order of [...orders, ...orders]) await order(short(wallet))
      expect(await ordersOf(wallet)).toEqual([{ wallet, refill: day, asked: '22-last' }])
    })

    test('has another refill ordered once it needs more, and in another hour, as the one before may not have been due', async () => {
      const wallet = walletOf(freshWallet())
      const now = { at }
      const order = openOne(now)
      const cycles = { cycles: 1 }
      await order({ ...short(wallet, String(lastCallWei)), ...cycles })
      await order({ ...short(wallet, String(lastCallWei - 1n)), ...cycles })
      now.at += 1_000
      await order({ ...short(wallet, String(lastCallWei - 2n)), ...cycles })
      expect(await ordersOf(wallet)).toEqual([
        { wallet, refill: day, asked: '22' },
        { wallet, refill: day, asked: '22-last' },
        { wallet, refill: day, asked: '23-last' },
      ])
    })

    test.each([
      ['has enough', { balance: { ausd: '0', native: String(journeyWei) } }],
      ['is not verified', { verified: false }],
    ])('has none ordered if it %s', async (_, over) => {
      const wallet = walletOf(freshWallet())
      await openOne()({ ...short(wallet), ...over })
      expect(await ordersOf(wallet)).toEqual([])
    })

    test.each(['settled', 'failed'])('still awaits its first coin when a refill has %s', async (end) => {
      const wallet = walletOf(freshWallet())
      const at = Date.now() - 10_000
      await review(wallet, 'GREEN', at)
      await published(flagOrderId(wallet, BigInt(at)))
      await settle(wallet, BigInt(at))
      await published(dripOrderId(wallet))
      const before = (await backbone.database.read((db) => db.select().from(inbox))).length
      const outcome = { ...dripped(wallet), cause: `${wallet}:${day}` }
      if (end === 'settled') await relayer.tell(relaySettled('drip'), outcome)
      else await relayer.tell(relayFailed('drip'), { ...outcome, reason: 'reverted' })
      await waitUntil('the outcome', async () => {
        const rows = await backbone.database.read((db) => db.select().from(inbox))
        return rows.length > before
      })
      expect(await identityOf(wallet)).toMatchObject({ dripSettledAt: null, failedAt: null })
    })
  })
  describe('whose drip fails', () => {
    const failed = async (wallet: `0x${string}`) => {
      const before = (await inboxRows()).length
      const reason = 'reverted'
      await relayer.tell(relayFailed('drip'), { operationId: 'op', cause: wallet, wallet, reason })
      await waitUntil('the failed drip', async () => (await inboxRows()).length > before)
      return (await identityOf(wallet))!
    }
    const inboxRows = () => backbone.database.read((db) => db.select().from(inbox))
    const approve = async (who = freshWallet()) => {
      const wallet = walletOf(who)
      const at = Date.now() - 10_000
      await review(wallet, 'GREEN', at)
      await published(flagOrderId(wallet, BigInt(at)))
      await settle(wallet, BigInt(at))
      await published(dripOrderId(wallet))
      return { wallet, at }
    }
    test('is marked for manual review', async () => {
      const { wallet } = await approve()
      expect(await failed(wallet)).toMatchObject({ failure: 'reverted', checkAt: null })
    })
    test('still has its withdrawal ordered again', async () => {
      const { wallet, at } = await approve()
      await review(wallet, 'RED', at + 1)
      await published(flagOrderId(wallet, BigInt(at + 1)))
      const row = await failed(wallet)
      expect(row.failure).toBe('reverted')
      expect(row.checkAt).not.toBeNull()
      onChain.set(wallet, { verified: true, native: '0' })
      await sweepLater(minuteMs)
      await published(flagOrderId(wallet, BigInt(at + 1), 1))
    })
    test('keeps the standing of a user whose flag is on its way', async () => {
      const who = freshWallet()
      const { wallet, at } = await approve(who)
      for (const [step, answer] of (['RED', 'GREEN'] as const).entries()) {
        await review(wallet, answer, at + 1 + step)
        await published(flagOrderId(wallet, BigInt(at + 1 + step)))
      }
      await failed(wallet)
      const headers = { authorization: await headerOf(who, hour()) }
      const response = await fetch(`${gateway.url}/me`, { headers })
      const { verification } = (await response.json()) as { verification: object }
      expect(verification).toMatchObject({ status: 'approved', nextAction: 'wait' })
    })
    test('after the wallet had coin is not marked', async () => {
      const { wallet } = await approve()
      await relayer.tell(relaySettled('drip'), dripped(wallet))
      await waitUntil('the drip', async () => (await identityOf(wallet))?.dripSettledAt)
      expect(await failed(wallet)).toMatchObject({ failedAt: null, failure: null })
    })
  })
  test('that is verified gets no link', async () => {
    const who = freshWallet()
    await review(walletOf(who), 'GREEN')
    await becomes(walletOf(who), 'verified')
    const headers = { authorization: await headerOf(who, hour()) }
    const response = await fetch(`${gateway.url}/me/verification`, { method: 'POST', headers })
    expect(await response.json()).toEqual({ verified: true, url: null })
  })
})

describe('the sweep of an order without a result', () => {
  const approve = async (verified: boolean, native = '0') => {
    const wallet = walletOf(freshWallet())
    const at = Date.now()
    onChain.set(wallet, { verified, native })
    await review(wallet, 'GREEN', at)
    const revision = BigInt(at)
    const order = await published(flagOrderId(wallet, revision))
    return { wallet, revision, order: order.payload }
  }
  test('settles it when the chain already has the flag, then orders the coin', async () => {
    const { wallet } = await approve(true)
    await sweepLater(minuteMs)
    await published(dripOrderId(wallet))
    expect((await identityOf(wallet))?.flagSettledAt).not.toBeNull()
  })
  test('orders the flag again with a new message id at growing intervals while the chain lacks it', async () => {
    const { wallet, revision, order } = await approve(false)
    await sweepLater(minuteMs / 2)
    expect(await stored(flagOrderId(wallet, revision, 1))).toBe(0)
    await sweepLater(minuteMs)
    expect((await published(flagOrderId(wallet, revision, 1))).payload).toEqual(order)
    const row = await identityOf(wallet)
    expect(row).toMatchObject({ flagSettledAt: null, sweeps: 1 })
    await sweepLater(2 * minuteMs)
    const waited = (await identityOf(wallet))!.checkAt!.getTime() - row!.checkAt!.getTime()
    expect(Math.round(waited / minuteMs)).toBe(2)
  })
  test('orders nothing more when it gives up', async () => {
    const { wallet, revision } = await approve(false)
    await backbone.database.transaction((tx) =>
      tx.update(identities).set({ sweeps: 20 }).where(eq(identities.wallet, wallet)),
    )
    await sweepLater(minuteMs)
    expect((await identityOf(wallet))?.checkAt).toBeNull()
    expect(await stored(flagOrderId(wallet, revision, 21))).toBe(0)
    expect(raised.get(wallet)).toEqual(['identity order unanswered, giving up'])
  })
  test('orders the coin again until the wallet holds coin', async () => {
    const { wallet, revision } = await approve(true, '5')
    await sweepLater(minuteMs)
    const first = await published(dripOrderId(wallet))
    await sweepLater(2 * minuteMs + 1_000)
    const again = await published(dripRepeatId(wallet, revision, 1))
    expect(again.payload).toEqual(first.payload)
    expect((await identityOf(wallet))?.dripSettledAt).toBeNull()
    await sweepLater(4 * minuteMs)
    const row = await identityOf(wallet)
    expect(row?.checkAt).toBeNull()
    expect(row?.dripSettledAt).not.toBeNull()
  })
  test.each([
    [
      'fails',
      'failed',
      (wallet: string) => {
        meanwhile.set(wallet, () => Promise.reject(new Error('of this wallet only')))
      },
    ],
    ['cannot read the chain', 'unavailable', (wallet: string) => void unreadable.add(wallet)],
  ])('reaches the other wallets although the relayer %s for the one that waits longest', async (_, fault, spoil) => {
    const failing = await approve(false)
    spoil(failing.wallet)
    const { wallet, revision } = await approve(false)
    const before = (await identityOf(failing.wallet))!
    await expect(sweepLater(minuteMs)).rejects.toThrow(fault)
    await published(flagOrderId(wallet, revision, 1))
    const after = (await identityOf(failing.wallet))!
    expect(after.sweeps).toBe(0)
    expect(after.checkAt!.getTime()).toBeGreaterThan(before.checkAt!.getTime())
    meanwhile.delete(failing.wallet)
    unreadable.delete(failing.wallet)
    await sweepLater(2 * minuteMs + 1_000)
    await published(flagOrderId(failing.wallet, failing.revision, 1))
  })
  test('leaves an order that is answered during the chain lookup', async () => {
    const { wallet, revision } = await approve(true)
    await settle(wallet, revision)
    await published(dripOrderId(wallet))
    meanwhile.set(wallet, async () => {
      await relayer.tell(relaySettled('drip'), dripped(wallet))
      await waitUntil('the drip', async () => (await identityOf(wallet))?.dripSettledAt)
    })
    await sweepLater(minuteMs)
    expect((await identityOf(wallet))?.checkAt).toBeNull()
    expect(await stored(dripRepeatId(wallet, revision, 1))).toBe(0)
  })
})
