import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Static } from 'typebox'
import { asker } from '#platform/bus/ask'
import type { Bus } from '#platform/bus/open'
import { handler } from '#platform/bus/serve'
import { openLog } from '#platform/log'
import { ChainAccount, ChainTerms } from '#shared/messages/chain'
import { CreditDue } from '#shared/messages/credit'
import { IndexerDue } from '#shared/messages/indexer'
import { PaymentsActivity } from '#shared/messages/payments'
import { AutorepayOrdered } from '#shared/messages/relay'
import { refuse } from '#shared/refusals'
import { waitUntil } from '#test/support/wait'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import { account, chainTerms, entryAt } from '../test-support/bodies'
import { answerAs, type Dependencies, startBackbone } from '../test-support/dependencies'
import { openUsers } from '../users/user.store'
import { openMemory, remindOnce, startReminding } from './remind'
import { reminders } from './reminder.store'

const day = 86_400
/** Noon in Kuala Lumpur, in unix seconds. */
const dueAt = Date.UTC(2026, 11, 24, 4) / 1_000
const graceSeconds = day

const holdSeconds = 7 * day

type AutoRepay = NonNullable<Static<typeof ChainAccount.answer>['autoRepay']> | null

const chain = {
  now: 0,
  dueAt,
  defaultsAt: undefined as number | undefined,
  number: 1,
  isOpen: true,
  paused: false,
  lags: false,
  autoRepay: null as AutoRepay,
  drawn: account.drawn,
}
/** Status of a settlement that payments reports, `none`, or `unknown` while payments does not answer. */
let settlement: 'none' | 'unknown' | 'awaiting_payment' | 'paid' | 'paid late' | 'review'
/** Runs once, before payments answers. */
let meanwhile: (() => Promise<unknown>) | undefined
/** Wallets on the first page for which the chain cannot be read. */
let failing: readonly `0x${string}`[]
let wallet: `0x${string}`
let wallets = 0

let backbone: Dependencies
let bus: Bus
const others: AsyncDisposable[] = []
beforeAll(async () => {
  backbone = await startBackbone()
  const openedAt = () => String(chain.dueAt - 30 * day)
  others.push(
    await answerAs(backbone, 'chain-relayer', [
      handler(ChainTerms, async () => ({
        ok: { ...chainTerms, holdSeconds, cycle: { ...chainTerms.cycle, graceSeconds } },
      })),
      handler(ChainAccount, async (request) => {
        if (failing.includes(request.wallet)) return refuse('chain_unavailable')
        return {
          ok: {
            ...account,
            wallet: request.wallet,
            cycle: chain.isOpen
              ? {
                  number: chain.number,
                  openedAt: openedAt(),
                  dueAt: String(chain.dueAt),
                  defaultsAt: String(chain.defaultsAt ?? chain.dueAt + graceSeconds),
                }
              : null,
            paused: chain.paused,
            autoRepay: chain.autoRepay,
            drawn: chain.drawn,
            blockTime: String(chain.now),
          },
        }
      }),
    ]),
    await answerAs(backbone, 'payments', [
      handler(PaymentsActivity, async () => {
        const work = meanwhile
        meanwhile = undefined
        await work?.()
        if (settlement === 'unknown') return refuse('provider_unavailable')
        if (settlement === 'none') return { ok: { items: [], inFlight: [] } }
        const late = { status: 'expired', reason: 'awaiting_rate' } as const
        const shown = settlement === 'paid late' ? late : { status: settlement }
        const open = { ...entryAt(1, 'pay_1'), kind: 'settlement', ...shown, inFlight: true } as const
        return { ok: { items: [], inFlight: [open] } }
      }),
    ]),
    await answerAs(backbone, 'indexer-reader', [
      handler(IndexerDue, async ({ sinceSeconds, after }) => {
        if (chain.lags) return refuse('indexer_lags')
        const { number } = chain
        const one = { wallet, number, openedAt: openedAt(), dueAt: String(chain.dueAt) }
        const isLast = after !== null || failing.length === 0
        const isListed = chain.now - chain.dueAt <= sinceSeconds
        const cycles = isLast ? (isListed ? [one] : []) : failing.map((other) => ({ ...one, wallet: other }))
        return { ok: { cycles, isLast, blockTime: String(chain.now) } }
      }),
    ]),
  )
  bus = await backbone.busAs('gateway')
})
afterAll(async () => {
  await bus?.[Symbol.asyncDispose]()
  for (const one of others) await one[Symbol.asyncDispose]()
  await backbone?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  failing = []
  settlement = 'none'
  wallets += 1
  wallet = `0x${wallets.toString(16).padStart(40, '0')}`
  Object.assign(chain, {
    dueAt,
    defaultsAt: undefined,
    number: 1,
    isOpen: true,
    paused: false,
    lags: false,
    autoRepay: null,
    drawn: account.drawn,
  })
  await openUsers(backbone.database).setCountry(wallet, 'MY')
})

/** Returns an instance as a restart creates it, without any memory. */
const contextOf = () => {
  const { database } = backbone
  return {
    database,
    ask: asker(bus, 5_000),
    users: openUsers(database),
    poke: () => {},
    clock: () => Date.now(),
    log: openLog('suite', 'silent'),
  }
}
const instance = () => {
  const [context, memory] = [contextOf(), openMemory()]
  return () => remindOnce(context, memory)
}
const announced = async (subject: string) => {
  const rows = await backbone.database.read((db) =>
    db.select().from(outbox).where(eq(outbox.subject, subject)).orderBy(outbox.position),
  )
  const own = rows.map(({ payload }) => payload as Record<string, unknown>)
  return own.filter((one) => one.wallet === wallet)
}
const kinds = async () => (await announced(CreditDue.subject)).map(({ cycle, kind }) => `${cycle} ${kind}`)
const recorded = async () =>
  (await backbone.database.read((db) => db.select().from(reminders).where(eq(reminders.wallet, wallet)))).length

async function rounds(round: () => Promise<boolean>, times: readonly number[]) {
  for (const now of times) {
    chain.now = now
    expect(await round()).toBe(true)
  }
}
const hours = (from: number, to: number) => Array.from({ length: (to - from) / 3_600 }, (_, at) => from + at * 3_600)

describe('the reminders of a debt', () => {
  test('are sent once each, in order, by two instances with restarts in between', async () => {
    let both = [instance(), instance()]
    for (const now of hours(dueAt - 4 * day, dueAt + 3 * day)) {
      chain.now = now
      if (now % (7 * 3_600) === 0) both = [instance(), instance()]
      expect(await Promise.all(both.map((round) => round()))).toEqual([true, true])
    }
    const all = ['1 three_days_before', '1 one_day_before', '1 due', '1 grace_ends']
    expect(await kinds()).toEqual(all)
    expect(await recorded()).toBe(4)
  })

  test('follow a due date that a pause moved, without a repeat', async () => {
    const round = instance()
    await rounds(round, [dueAt - day])
    expect(await kinds()).toEqual(['1 one_day_before'])
    chain.paused = true
    await rounds(round, [dueAt, dueAt + 2 * day])
    expect(await kinds()).toEqual(['1 one_day_before'])
    Object.assign(chain, { paused: false, dueAt: dueAt + 10 * day })
    await rounds(round, hours(dueAt + 2 * day, dueAt + 11 * day))
    expect(await kinds()).toEqual(['1 one_day_before', '1 three_days_before', '1 due'])
  })

  test('say that debt restored after its grace period has until a day later', async () => {
    const round = instance()
    const restoredAt = dueAt + graceSeconds + holdSeconds
    Object.assign(chain, { defaultsAt: restoredAt + day })
    await rounds(round, [restoredAt, restoredAt + day - 1])
    expect(await kinds()).toEqual(['1 due'])
    await rounds(round, [restoredAt + day, restoredAt + day + 4 * 3_600])
    expect(await kinds()).toEqual(['1 due', '1 grace_ends'])
  })

  test('begin again for the debt that a revoked settlement restored, with those still true', async () => {
    const round = instance()
    await rounds(round, [dueAt - 3 * day])
    chain.isOpen = false
    await rounds(round, [dueAt - day])
    // The next cycle has the dates of the one that the settlement had closed.
    Object.assign(chain, { isOpen: true, number: 2 })
    await rounds(round, [dueAt - 3_600, dueAt])
    expect(await kinds()).toEqual(['1 three_days_before', '2 one_day_before', '2 due'])
  })

  test('are not sent once the debt is repaid, even if the reader does not know it yet', async () => {
    chain.isOpen = false
    await rounds(instance(), [dueAt - day, dueAt])
    expect(await kinds()).toEqual([])
  })

  test.each(['paid', 'paid late'] as const)(
    'wait for a settlement that is %s and not on the chain yet',
    async (state) => {
      const round = instance()
      settlement = state
      await rounds(round, [dueAt - day, dueAt])
      expect(await kinds()).toEqual([])
      settlement = 'none'
      await rounds(round, [dueAt + 60])
      expect(await kinds()).toEqual(['1 due'])
    },
  )

  test.each(['unknown', 'awaiting_payment', 'review'] as const)(
    'are sent while the state of a settlement is %s',
    async (state) => {
      settlement = state
      await rounds(instance(), [dueAt])
      expect(await kinds()).toEqual(['1 due'])
    },
  )

  test('wait at night for 08:00 in the country of the user', async () => {
    const round = instance()
    const midnight = dueAt + 12 * 3_600
    chain.dueAt = midnight
    await rounds(round, [midnight, midnight + 8 * 3_600 - 1])
    expect(await kinds()).toEqual([])
    await rounds(round, [midnight + 8 * 3_600])
    expect(await kinds()).toEqual(['1 due'])
  })

  test.each([1, 8])('are sent to the wallets of later pages while %i wallets keep failing', async (count) => {
    const round = instance()
    failing = Array.from({ length: count }, (_, at) => `0x${`${at}`.repeat(39)}f` as const)
    chain.now = dueAt
    for (let turn = 0; turn < 4; turn++) expect(await round()).toBe(false)
    expect(await kinds()).toEqual(['1 due'])
    failing = []
    for (let turn = 0; turn < 2; turn++) await round()
    expect(await round()).toBe(true)
  })

  test('wait while the reader lags', async () => {
    const round = instance()
    Object.assign(chain, { now: dueAt, lags: true })
    expect(await round()).toBe(false)
    chain.lags = false
    expect(await round()).toBe(true)
    expect(await kinds()).toEqual(['1 due'])
  })

  test('raise an alarm after an hour without a complete round', async () => {
    const raised: string[] = []
    const write = (line: string) => {
      const { alarm, msg } = JSON.parse(line)
      if (alarm) raised.push(msg)
    }
    const time = { aheadMs: 0 }
    const log = openLog('suite', 'error', { write })
    const own = {
      ...contextOf(),
      log,
      clock: () => Date.now() + time.aheadMs,
      config: { remindersEveryMs: 10, recheckAfterMs: 60_000 },
    }
    Object.assign(chain, { now: dueAt, lags: true })
    await using _loop = startReminding(own as unknown as Context)
    expect(raised).toEqual([])
    time.aheadMs = 3_700_000
    await waitUntil('the alarm', () => raised.includes('reminders of due debts not sent'))
  })
})

describe('the automatic repayment of a debt', () => {
  const allowed: AutoRepay = { maxPerCycle: '500', source: 'wallet', taken: '0', startsAt: String(dueAt - day) }
  const tries = async () =>
    (await announced(AutorepayOrdered.subject)).map(({ cycle, attempt }) => `${cycle} ${attempt}`)

  test('is ordered in time and once a day from a day before the due date, by two instances with restarts in between', async () => {
    chain.autoRepay = allowed
    let both = [instance(), instance()]
    for (const now of hours(dueAt - 4 * day, dueAt + 3 * day)) {
      chain.now = now
      if (now % (7 * 3_600) === 0) both = [instance(), instance()]
      expect(await Promise.all(both.map((round) => round()))).toEqual([true, true])
      if (now < dueAt - day) expect(await tries()).toEqual([])
    }
    expect(await tries()).toEqual(['1 0', '1 1', '1 2', '1 3'])
  })

  test('follows a due date that a pause moved, by tries of their own', async () => {
    const both = [instance(), instance()]
    const round = async () => (await Promise.all(both.map((one) => one()))).every(Boolean)
    chain.autoRepay = allowed
    await rounds(round, [dueAt - day, dueAt - 7_200, dueAt - 900])
    expect(await tries()).toEqual(['1 0', '1 1', '1 2'])
    chain.paused = true
    await rounds(round, [dueAt + day])
    Object.assign(chain, { paused: false, dueAt: dueAt + 2 * day })
    chain.autoRepay = { ...allowed, startsAt: String(chain.dueAt - day) }
    await rounds(round, hours(chain.dueAt - day, chain.dueAt))
    expect(await tries()).toEqual(['1 0', '1 1', '1 2', '1 3', '1 4'])
    await rounds(round, [chain.dueAt - 900, chain.dueAt, chain.dueAt + day])
    expect(await tries()).toEqual(['1 0', '1 1', '1 2', '1 3', '1 4', '1 5', '1 6'])
  })

  test('has each of its tries although another instance orders an earlier one at the same moment', async () => {
    chain.autoRepay = allowed
    await rounds(instance(), [dueAt - day, dueAt - 7_200])
    Object.assign(chain, { dueAt: dueAt + 2 * day })
    chain.autoRepay = { ...allowed, startsAt: String(chain.dueAt - day) }
    const [round, other] = [instance(), instance()]
    meanwhile = async () => {
      chain.now = chain.dueAt - 7_201
      await other()
    }
    const second = chain.dueAt - 7_200
    chain.now = second
    await round()
    expect(await tries()).toEqual(['1 0', '1 1', '1 2'])
    await rounds(round, [second + 60])
    expect(await tries()).toEqual(['1 0', '1 1', '1 2', '1 3'])
  })

  test.each([
    ['the wallet lacks AUSD', 'wallet', '500'],
    ['the collateral is too little', 'collateral', '10000001'],
  ] as const)('is not named by a reminder while %s', async (_, source, left) => {
    chain.autoRepay = { ...allowed, source, maxPerCycle: left }
    chain.drawn = '20000000'
    await rounds(instance(), [dueAt - 3 * day])
    const [reminder] = await announced(CreditDue.subject)
    expect(reminder).toMatchObject({ kind: 'three_days_before' })
    expect(reminder).not.toHaveProperty('autoRepay')
  })

  test('is not named by the reminder that its tries have ended', async () => {
    chain.autoRepay = { ...allowed, source: 'collateral' }
    await rounds(instance(), hours(dueAt, dueAt + 2 * day))
    expect(await announced(CreditDue.subject)).toMatchObject([
      { kind: 'due', autoRepay: { max: '500' } },
      { kind: 'grace_ends' },
    ])
    expect((await announced(CreditDue.subject))[1]).not.toHaveProperty('autoRepay')
  })

  test('is named by the reminders before it', async () => {
    chain.autoRepay = { ...allowed, source: 'collateral', taken: '120' }
    await rounds(instance(), [dueAt - 3 * day])
    expect(await announced(CreditDue.subject)).toMatchObject([
      { kind: 'three_days_before', autoRepay: { max: '380', source: 'collateral' } },
    ])
  })

  test('that is allowed in the last hour is ordered before the due date', async () => {
    const round = instance()
    await rounds(round, [dueAt - day, dueAt - 2_700])
    chain.autoRepay = allowed
    const minutes = Array.from({ length: 44 }, (_, at) => dueAt - 2_640 + at * 60)
    await rounds(round, minutes)
    expect(await tries()).not.toEqual([])
  })

  test('that is allowed in the last day follows within an hour', async () => {
    const round = instance()
    await rounds(round, [dueAt - day, dueAt - 5 * 3_600])
    chain.autoRepay = allowed
    await rounds(round, [dueAt - 4 * 3_600])
    expect(await tries()).toEqual(['1 0'])
  })

  // guard: a debt that its borrower is paying is not repaid automatically as well
  test.each(['paid', 'paid late'] as const)(
    'waits for a settlement that is %s, also after the due date',
    async (state) => {
      const round = instance()
      await rounds(round, [dueAt - day])
      // The borrower, who was reminded, pays before the next reminder.
      chain.autoRepay = allowed
      settlement = state
      await rounds(round, [dueAt - day + 3_600, dueAt - 7_200, dueAt - 900, dueAt + 60])
      expect(await tries()).toEqual([])
      settlement = 'none'
      await rounds(round, [dueAt + 120])
      expect(await tries()).toEqual(['1 2'])
    },
  )

  test('waits for a borrower who is at a checkout, but for the last try in time', async () => {
    const round = instance()
    chain.autoRepay = allowed
    settlement = 'awaiting_payment'
    await rounds(round, [dueAt - day, dueAt - 7_200, dueAt - 901])
    expect(await tries()).toEqual([])
    await rounds(round, [dueAt - 900, dueAt + day])
    expect(await tries()).toEqual(['1 2'])
  })

  test.each(['unknown', 'review'] as const)('is ordered while the state of a settlement is %s', async (state) => {
    chain.autoRepay = allowed
    settlement = state
    await rounds(instance(), [dueAt - day])
    expect(await tries()).toEqual(['1 0'])
  })

  test('is not ordered after it was taken back, during a pause, or once nothing is owed', async () => {
    const round = instance()
    await rounds(round, [dueAt - day])
    Object.assign(chain, { autoRepay: allowed, paused: true })
    await rounds(round, [dueAt - 20 * 3_600])
    Object.assign(chain, { paused: false, isOpen: false })
    await rounds(round, [dueAt - 15 * 3_600])
    Object.assign(chain, { autoRepay: null, isOpen: true })
    await rounds(round, [dueAt - 10 * 3_600])
    expect(await tries()).toEqual([])
  })
})
