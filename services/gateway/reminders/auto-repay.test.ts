import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { handle } from '#platform/bus/handling'
import type { Tx } from '#platform/db/open'
import { openLog } from '#platform/log'
import { CreditAutorepay } from '#shared/messages/credit'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import type { Config } from '../config'
import { deadLetters, gatewayMessaging, outbox } from '../schema.store'
import { type Dependencies, startBackbone } from '../test-support/dependencies'
import {
  attemptOf,
  autoRepayReactions,
  decideAutoRepay,
  orderTry as orderPlanned,
  permissionOf,
  repeatUnanswered,
} from './auto-repay'
import { autoRepayments, type Planned, type Sum, type Try } from './auto-repay.store'

const day = 86_400
const dueAt = Date.UTC(2026, 11, 24, 4) / 1_000
const debt = { dueAt, defaultsAt: dueAt + 2 * day }
const startsAt = dueAt - day
const again = dueAt - 7_200
const last = dueAt - 900
const allowed = { leftMicro: 5n, source: 'wallet', startsAt } as const

describe('the permission to repay a debt automatically', () => {
  const autoRepay = { maxPerCycle: '500', source: 'collateral', taken: '120', startsAt: String(startsAt) } as const
  test('has what is left of the bound in the open cycle', () => {
    expect(permissionOf({ autoRepay })).toEqual({ leftMicro: 380n, source: 'collateral', startsAt })
  })
  test.each([
    ['was never given', null],
    ['is not known to an old contract', undefined],
    ['is used up in this cycle', { ...autoRepay, taken: '500' }],
    ['has no open cycle', { ...autoRepay, startsAt: null }],
  ])('is none if it %s', (_, given) => {
    expect(permissionOf({ autoRepay: given })).toBeNull()
  })
})

describe('the decision about an automatic repayment', () => {
  test.each<[string, number, [number, number] | null, number | null]>([
    ['waits until a day before the due date', startsAt - 1, null, startsAt],
    ['tries a day before the due date', startsAt, [0, startsAt], again],
    ['names the same step until the next', again - 1, [0, startsAt], again],
    ['tries again in time, two hours before the due date', again, [1, again], last],
    ['tries once more in time, for a borrower who heard of the second', last, [2, last], again + day],
    ['names the same step at the due date', dueAt, [2, last], again + day],
    ['tries again a day later', again + day + 5, [3, again + day], again + 2 * day],
    ['tries in time before the default', again + 2 * day, [4, again + 2 * day], again + 3 * day],
    [
      'tries on the last second in which a payment prevents the default',
      debt.defaultsAt,
      [4, again + 2 * day],
      again + 3 * day,
    ],
    ['ends with the default', debt.defaultsAt + 1, null, null],
  ])('%s', (_, now, due, lookAt) => {
    expect(decideAutoRepay(debt, allowed, now)).toEqual({ due: due && { step: due[0], plannedAt: due[1] }, lookAt })
  })

  test('tries a debt of a short term again at half and at a quarter of the time that is left', () => {
    const short = { ...allowed, startsAt: dueAt - 32 }
    const decided = [dueAt - 32, dueAt - 16, dueAt - 8, dueAt].map((now) => decideAutoRepay(debt, short, now))
    expect(decided).toEqual([
      { due: { step: 0, plannedAt: dueAt - 32 }, lookAt: dueAt - 16 },
      { due: { step: 1, plannedAt: dueAt - 16 }, lookAt: dueAt - 8 },
      { due: { step: 2, plannedAt: dueAt - 8 }, lookAt: dueAt - 16 + day },
      { due: { step: 2, plannedAt: dueAt - 8 }, lookAt: dueAt - 16 + day },
    ])
  })

  test.each<[string, number, readonly Planned[], number | null]>([
    ['has the number of its step', 2, [{ attempt: 0, plannedAt: startsAt }], 2],
    ['is tried once', 1, [{ attempt: 1, plannedAt: again }], null],
    ['is tried once, also in the row of an earlier version', 1, [{ attempt: 1, plannedAt: null }], null],
    ['is tried again for another due date, by a free number', 1, [{ attempt: 1, plannedAt: again - day }], 2],
  ])('a step %s', (_, step, tries, attempt) => {
    const plannedAt = [startsAt, again, last][step]!
    expect(attemptOf({ step, plannedAt }, tries)).toBe(attempt)
  })

  test('looks at a debt without a permission at least every hour, since it may be given then', () => {
    expect(decideAutoRepay(debt, null, startsAt - 1)).toEqual({ due: null, lookAt: startsAt })
    expect(decideAutoRepay(debt, null, startsAt)).toEqual({ due: null, lookAt: startsAt + 3_600 })
    expect(decideAutoRepay(debt, null, debt.defaultsAt + 1)).toEqual({ due: null, lookAt: null })
  })

  test.each([
    ['the due date', dueAt],
    ['the default', debt.defaultsAt],
  ])('looks more often shortly before %s, so that a permission given in the last hour is used in time', (_, end) => {
    const looks = [3_600, 1_800, 200, 90].map((before) => decideAutoRepay(debt, null, end - before).lookAt)
    expect(looks).toEqual([end - 1_800, end - 900, end - 100, end - 30])
  })
})

let backbone: Dependencies
beforeAll(async () => {
  backbone = await startBackbone()
})
afterAll(() => backbone?.[Symbol.asyncDispose]())

const log = openLog('suite', 'silent')
const settled = relaySettled('autorepay').subject
const failed = relayFailed('autorepay').subject
const walletOf = () => `0x${randomUUID().replaceAll('-', '').padStart(40, '0')}` as const
const txHash = `0x${'ab'.repeat(32)}` as const
const sum = { ausdMicro: 5_000_000n, source: 'wallet' } as const
const orderTry = (tx: Tx, one: Try, sum: Sum) => orderPlanned(tx, { ...one, plannedAt: startsAt }, sum)

/** Handles the relayer's report as the consumer of the gateway does. */
const hear = (subject: string, cause: string, more: object) =>
  handle(
    {
      consumer: 'gateway',
      database: backbone.database,
      messaging: gatewayMessaging,
      reactions: autoRepayReactions({ clock: Date.now, log }),
      log,
      poke: () => {},
    },
    {
      subject,
      messageId: randomUUID(),
      payload: { operationId: 'op_1', cause, wallet: cause.split(':')[0], ...more },
    },
  )
const announcedTo = async (wallet: string, subject = CreditAutorepay.subject) => {
  const rows = await backbone.database.read((db) => db.select().from(outbox).where(eq(outbox.subject, subject)))
  return rows.map(({ payload }) => payload as Record<string, unknown>).filter((one) => one.wallet === wallet)
}
const triesOf = (wallet: `0x${string}`) =>
  backbone.database.read((db) => db.select().from(autoRepayments).where(eq(autoRepayments.wallet, wallet)))

describe('a try to repay a debt automatically', () => {
  // guard: a try to repay a debt automatically is ordered once
  test('is ordered once, by any number of instances at once', async () => {
    const wallet = walletOf()
    const one = { wallet, cycle: 3, attempt: 0 }
    const order = () => backbone.database.transaction((tx) => orderTry(tx, one, sum))
    const orders = await Promise.all([order(), order(), order()])
    expect(orders.filter(Boolean)).toHaveLength(1)
    expect(await order()).toBe(false)
    expect(await announcedTo(wallet, 'relay.autorepay')).toEqual([one])
    await backbone.database.transaction((tx) => orderTry(tx, { ...one, attempt: 1 }, sum))
    expect(await announcedTo(wallet, 'relay.autorepay')).toHaveLength(2)
  })

  test('announces once that the debt was repaid, with the transaction and what the contract took', async () => {
    const wallet = walletOf()
    await backbone.database.transaction((tx) => orderTry(tx, { wallet, cycle: 3, attempt: 0 }, sum))
    const repaid = { ausd: '4000000', source: 'collateral' }
    for (let time = 0; time < 2; time++) await hear(settled, `${wallet}:3:0`, { txHash, blockNumber: '7', repaid })
    const event = { wallet, cycle: 3, outcome: 'repaid', reason: null, ausd: '4000000', txHash }
    expect(await announcedTo(wallet)).toEqual([{ ...event, occurredAt: expect.any(String) }])
    const row = { attempt: 0, outcome: 'repaid', ausdMicro: 4_000_000n, source: 'collateral', txHash }
    expect(await triesOf(wallet)).toMatchObject([row])
  })

  test('whose outcome comes without an amount has none, rather than the one that was ordered', async () => {
    const wallet = walletOf()
    await backbone.database.transaction((tx) => orderTry(tx, { wallet, cycle: 3, attempt: 0 }, sum))
    await hear(settled, `${wallet}:3:0`, { txHash, blockNumber: '7' })
    expect((await announcedTo(wallet))[0]).not.toHaveProperty('ausd')
    expect(await triesOf(wallet)).toMatchObject([{ outcome: 'repaid', ausdMicro: null, source: null }])
  })

  test.each([
    ['balance_too_low', 'balance_too_low'],
    ['allowance_too_low', 'allowance_too_low'],
    ['collateral_too_low', 'collateral_too_low'],
    ['account_frozen', 'account_frozen'],
    ['policy_refused', 'reverted'],
  ])('that the relayer ends as %s is announced as failed: %s', async (reason, said) => {
    const wallet = walletOf()
    await hear(failed, `${wallet}:1:2`, { reason })
    const event = { wallet, cycle: 1, outcome: 'failed', reason: said, txHash: null, occurredAt: expect.any(String) }
    expect(await announcedTo(wallet)).toEqual([event])
  })

  test('of a debt that was repaid meanwhile is recorded, and announced to nobody', async () => {
    const wallet = walletOf()
    await hear(failed, `${wallet}:1:0`, { reason: 'nothing_due' })
    expect(await announcedTo(wallet)).toEqual([])
    expect(await triesOf(wallet)).toMatchObject([{ outcome: 'needless', reason: null }])
  })

  test('is ordered again while it has no outcome, after intervals that double, by any number of instances once', async () => {
    const wallet = walletOf()
    const one = { wallet, cycle: 3, attempt: 0 }
    await backbone.database.transaction((tx) => orderTry(tx, one, sum))
    const config = { recheckAfterMs: 30_000 } as Config
    const round = () => repeatUnanswered({ database: backbone.database, config, poke: () => {} })
    const ordered = []
    for (const seconds of [29, 31, 59, 61, 119, 121]) {
      const orderedAt = sql`now() - make_interval(secs => ${seconds})`
      await backbone.database.run((db) =>
        db.update(autoRepayments).set({ orderedAt }).where(eq(autoRepayments.wallet, wallet)),
      )
      await Promise.all([round(), round()])
      ordered.push((await announcedTo(wallet, 'relay.autorepay')).length)
    }
    expect(ordered).toEqual([1, 2, 2, 3, 3, 4])
    await hear(failed, `${wallet}:3:0`, { reason: 'nothing_due' })
    await round()
    expect(await announcedTo(wallet, 'relay.autorepay')).toEqual([one, one, one, one])
  })

  test('with a cause that nobody ordered goes to the dead letters', async () => {
    await hear(settled, 'pay_1', { txHash, blockNumber: '7', wallet: walletOf() })
    const rows = await backbone.database.read((db) => db.select().from(deadLetters))
    expect(rows).toMatchObject([{ reason: '"pay_1" is not the cause of an automatic repayment' }])
  })
})
