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
    args: { ref, amount: String(amount), shares: String(shares) },
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
