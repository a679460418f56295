import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { idFor } from '#shared/ids'
import { textIn } from '#shared/language/catalogue'
import { languages } from '#shared/language/language'
import { autoRepayFailures } from '#shared/messages/credit'
import { type Dependencies, startBackbone } from '../test-support/dependencies'
import { autoRepayItems, openAutoRepayActivity } from './activity'
import { type AutoRepayment, autoRepayments } from './auto-repay.store'

const wallet = `0x${'a1'.repeat(20)}` as const
const txHash = `0x${'ab'.repeat(32)}` as const
const idOf = (name: string) => idFor('operation', `autorepay:${wallet}:${name}`)
const hour = (at: number) => new Date(Date.UTC(2026, 10, 21, at))

const tried = (cycle: number, attempt: number, at: number, more: Partial<AutoRepayment> = {}): AutoRepayment => ({
  wallet,
  cycle,
  attempt,
  plannedAt: null,
  orderedAt: hour(at),
  ausdMicro: 3_000_000n,
  source: 'wallet',
  outcome: null,
  reason: null,
  txHash: null,
  endedAt: null,
  ...more,
})
const failed = { outcome: 'failed', reason: 'balance_too_low', endedAt: hour(5) } as const
const repaid = { outcome: 'repaid', txHash, endedAt: hour(6) } as const
const needless = { outcome: 'needless', endedAt: hour(7) } as const

describe('the tries of an automatic repayment', () => {
  test.each<[string, AutoRepayment[], [string, string][]]>([
    ['are in progress until they end', [tried(3, 0, 1)], [['3:0', 'repaying']]],
    ['are one item, however many failed', [tried(3, 0, 1, failed), tried(3, 1, 2, failed)], [['3:0', 'failed']]],
    ['are in progress again at the next one', [tried(3, 0, 1, failed), tried(3, 1, 2)], [['3:0', 'repaying']]],
    ['end as the one that repaid', [tried(3, 0, 1, failed), tried(3, 2, 2, repaid)], [['3:0', 'repaid']]],
    ['end as not needed', [tried(3, 0, 1, failed), tried(3, 1, 2, needless)], [['3:0', 'needless']]],
    [
      'are another item after one that repaid, as when the bound was raised',
      [tried(3, 0, 1, repaid), tried(3, 1, 2, repaid)],
      [
        ['3:1', 'repaid'],
        ['3:0', 'repaid'],
      ],
    ],
    [
      'are an item of each debt, the newest first',
      [tried(3, 2, 1, failed), tried(4, 0, 2)],
      [
        ['4:0', 'repaying'],
        ['3:2', 'failed'],
      ],
    ],
    ['are no item without an amount', [tried(3, 0, 1, { ...repaid, ausdMicro: null, source: null })], []],
  ])('%s', (_, tries, items) => {
    const named = items.map(([name, status]) => [idOf(name), status])
    expect(autoRepayItems(tries).map(({ id, status }) => [id, status])).toEqual(named as never)
  })

  test('that repaid name amount, source and transaction of the last one, and the time of the first', () => {
    const last = tried(3, 1, 2, { ...repaid, ausdMicro: 2_000_000n, source: 'collateral' })
    expect(autoRepayItems([tried(3, 0, 1, failed), last])).toMatchObject([
      {
        kind: 'autorepay',
        status: 'repaid',
        inFlight: false,
        nextAction: null,
        sentence: '2.000000 AUSD of your debt was repaid automatically from your collateral.',
        ausd: '2000000',
        source: 'collateral',
        txHash,
        createdAt: hour(1).toISOString(),
        updatedAt: hour(6).toISOString(),
      },
    ])
  })

  test.each(autoRepayFailures)('that failed with %s say why in every language, and that there is another', (reason) => {
    const [item] = autoRepayItems([tried(3, 0, 1, { ...failed, reason })])
    expect(item).toMatchObject({ status: 'failed', reason, inFlight: false, nextAction: null })
    const sentences = languages.map((language) => textIn(language, item!.texts as never))
    expect(new Set(sentences).size).toBe(languages.length)
    expect(item!.sentence).toEndWith('The repayment is tried again until the debt is repaid or in default.')
  })
})

let backbone: Dependencies
beforeAll(async () => {
  backbone = await startBackbone()
})
afterAll(() => backbone?.[Symbol.asyncDispose]())

describe('the automatic repayments of a wallet', () => {
  test('are read in pages of the activity, and are found by their id for this wallet alone', async () => {
    const { page, item } = openAutoRepayActivity(backbone.database)
    const other = `0x${'b2'.repeat(20)}` as const
    const rows = [tried(1, 0, 1, repaid), tried(2, 0, 2, failed), tried(2, 1, 3, repaid), tried(3, 0, 4)]
    await backbone.database.run((db) =>
      db.insert(autoRepayments).values([...rows, { ...tried(9, 0, 5), wallet: other }]),
    )
    const first = await page({ wallet, limit: 2 })
    expect(first.items.map(({ status, createdAt }) => [status, createdAt])).toEqual([
      ['repaying', hour(4).toISOString()],
      ['repaid', hour(2).toISOString()],
    ])
    const last = first.items[1]!
    const second = await page({ wallet, limit: 2, before: { createdAt: last.createdAt, id: last.id } })
    expect(second.items.map(({ createdAt }) => createdAt)).toEqual([hour(1).toISOString()])
    expect(second.inFlight).toEqual(first.items.slice(0, 1))
    // An item of another kind may have the time of this one, and a larger id.
    const above = await page({ wallet, limit: 2, before: { createdAt: last.createdAt, id: 'snd_' } })
    expect(above.items[0]).toEqual(last)
    expect(await item(wallet, last.id)).toEqual(last)
    expect(await item(other, last.id)).toBeNull()
    expect(await item(wallet, idOf('2:1'))).toBeNull()
  })
})
