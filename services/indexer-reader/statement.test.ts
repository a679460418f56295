import { describe, expect, test } from 'bun:test'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { beginGeneration, moveCursor, promote } from './cursor.store'
import { type AccountEvent, answerStatement, statementOf } from './statement'
import { openTestDatabase } from './test-support'

const txHash = `0x${'ab'.repeat(32)}` as const
const ref = `0x${'cd'.repeat(32)}` as const
const event = (atSeconds: number, name: string, amount: bigint, shares = amount) =>
  ({
    name,
    txHash,
    atSeconds,
    args: { ref, amount: String(amount), shares: String(shares), heldUntil: '0' },
  }) as unknown as AccountEvent

const all = { fromMs: 0, untilMs: 1_000_000 }

describe('the chain part of a statement', () => {
  test('has what collateral and debt rose and fell by, in order', () => {
    const { opening, items } = statementOf(
      [
        event(1, 'CollateralAdded', 100n),
        event(2, 'Drawn', 40n),
        event(3, 'CollateralWithdrawn', 10n),
        event(3, 'Repaid', 10n),
        event(4, 'RepaymentRevoked', 5n),
        event(5, 'CollateralSeized', 35n),
        event(6, 'TopUpRevoked', 55n),
      ],
      all,
    )
    expect(opening).toEqual({ collateral: '0', debt: '0' })
    expect(items.map((one) => [one.kind, one.in, one.out])).toEqual([
      ['collateral_added', { collateral: '100' }, {}],
      ['drawn', { debt: '40' }, {}],
      ['collateral_withdrawn', {}, { collateral: '10' }],
      ['repaid', {}, { debt: '10' }],
      ['repayment_revoked', { debt: '5' }, {}],
      ['collateral_seized', {}, { collateral: '35', debt: '35' }],
      ['topup_revoked', {}, { collateral: '55' }],
    ])
  })

  describe('of a default, whose event names no shares', () => {
    const marked = (atSeconds: number, seized: bigint, stillOwed: bigint) =>
      ({
        name: 'DefaultMarked',
        txHash,
        atSeconds,
        args: { number: '1', seized: `${seized}`, stillOwed: `${stillOwed}` },
      }) as unknown as AccountEvent
    const held = (atSeconds: number, name: string, args: Record<string, string>) =>
      ({ name, txHash, atSeconds, args: { ref, ...args } }) as unknown as AccountEvent
    const seizuresOf = (...events: AccountEvent[]) =>
      statementOf(events, all).items.flatMap((one) =>
        one.kind === 'collateral_seized' ? [[one.ausd, one.in, one.out]] : [],
      )

    test('has the debt that was covered, and the collateral that it took', () => {
      const before = [event(1, 'CollateralAdded', 100n), event(2, 'Drawn', 40n)]
      expect(seizuresOf(...before, marked(3, 40n, 0n))).toEqual([['40', {}, { collateral: '40', debt: '40' }]])
      const { opening } = statementOf([...before, marked(3, 40n, 0n)], { fromMs: 4_000, untilMs: 5_000 })
      expect(opening).toEqual({ collateral: '60', debt: '0' })
    })

    test('takes all of the collateral if a debt is left, whatever it was worth', () => {
      const before = [event(1, 'CollateralAdded', 60n), event(2, 'Drawn', 69n)]
      const later = [event(4, 'CollateralAdded', 30n, 30n), event(5, 'CollateralSeized', 10n, 11n)]
      expect(seizuresOf(...before, marked(3, 59n, 10n), ...later)).toEqual([
        ['59', {}, { collateral: '60', debt: '59' }],
        ['10', {}, { collateral: '11', debt: '10' }],
      ])
    })

    test('leaves collateral on hold, also if its hold was extended', () => {
      const onHold = held(1, 'CollateralAdded', { amount: '50', shares: '50', heldUntil: '3' })
      const before = [event(1, 'CollateralAdded', 20n), onHold, event(2, 'Drawn', 30n)]
      const extended = held(2, 'HoldExtended', { heldUntil: '9' })
      expect(seizuresOf(...before, extended, marked(3, 20n, 10n))).toEqual([
        ['20', {}, { collateral: '20', debt: '20' }],
      ])
      expect(seizuresOf(...before, marked(3, 30n, 0n))).toEqual([['30', {}, { collateral: '30', debt: '30' }]])
    })

    test('takes no more for what was revoked of it', () => {
      const onHold = held(1, 'CollateralAdded', { amount: '50', shares: '50', heldUntil: '9' })
      const before = [event(1, 'CollateralAdded', 20n), onHold, event(2, 'Drawn', 30n)]
      expect(seizuresOf(...before, event(2, 'TopUpRevoked', 50n), marked(3, 20n, 10n))).toEqual([
        ['20', {}, { collateral: '20', debt: '20' }],
      ])
    })

    test('has no line if nothing was seized', () => {
      expect(seizuresOf(event(2, 'Drawn', 40n), marked(3, 0n, 40n))).toEqual([])
    })
  })

  test('opens with the balances before the period, includes its first second and excludes its end', () => {
    const events = [1, 2, 3].map((at) => event(at, 'Drawn', 10n))
    const { opening, items } = statementOf(events, { fromMs: 2_000, untilMs: 3_000 })
    expect(opening).toEqual({ collateral: '0', debt: '10' })
    expect(items.map(({ at }) => at)).toEqual(['1970-01-01T00:00:02.000Z'])
  })

  test('takes collateral out at the value at which it was paid in, so that yield leaves no balance below 0', () => {
    const { items } = statementOf(
      [
        event(1, 'CollateralAdded', 100n, 100n),
        event(2, 'CollateralWithdrawn', 60n, 50n),
        event(3, 'CollateralWithdrawn', 61n, 50n),
      ],
      all,
    )
    expect(items.slice(1).map((one) => [one.ausd, one.out])).toEqual([
      ['60', { collateral: '50' }],
      ['61', { collateral: '50' }],
    ])
  })
})

test('a statement never ends after the newest final block, even if its period begins later', async () => {
  await using postgres = await startScratchPostgres()
  const { database, ...store } = await openTestDatabase(postgres, 'statement')
  await using _ = database
  const origin = { chainId: 1, contract: '0x', deployBlock: 1 }
  const generation = await beginGeneration(database, origin)
  await database.transaction((tx) => promote(tx, generation))
  const atSeconds = 1_790_000_000
  const head = { block: 9, hash: '0x9', atSeconds, sequence: 1 } as const
  const atMs = atSeconds * 1_000
  await database.run((db) => moveCursor(db, { generation, sequence: 0 }, { sequence: 1, head, atMs }))
  const { answer } = answerStatement({
    ...store,
    database,
    origin,
    lagMaxMs: 60_000,
    clock: () => atMs,
  })
  const timeAt = (ms: number) => new Date(atMs + ms).toISOString()
  const wallet = `0x${'1'.repeat(40)}`
  const statement = (fromMs: number) => answer({ wallet, from: timeAt(fromMs), to: timeAt(9_000) } as never)
  for (const fromMs of [-9_000, 5_000])
    expect(await statement(fromMs)).toMatchObject({ ok: { items: [], until: timeAt(0) } })
})
