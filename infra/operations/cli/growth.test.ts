import { describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { daysUntilFull, fullText, growthOf, growthText, readTables, type Size } from './growth'

const sizes = [
  { of: 'database', name: 'payments.journal', rows: 8_000, bytes: 4_000_000, keptDays: null },
  { of: 'database', name: 'payments.inbox', rows: 20_000, bytes: 2_000_000, keptDays: 97 },
] satisfies Size[]

test('permanent rows grow for a whole year, others for their retention period', () => {
  const [journal, inbox] = growthOf(sizes, 2_000, 1_000)
  expect(journal).toMatchObject({ rowsPer1000: 4_000, bytesPer1000: 2_000_000 })
  expect(journal!.bytesInYear).toBe(2_000_000 * 365)
  expect(inbox!.bytesInYear).toBe(1_000_000 * 97)
})

test('without payments there is no projection', () => {
  expect(growthOf(sizes, 0, 1_000).map(({ bytesInYear }) => bytesInYear)).toEqual([0, 0])
})

test('the largest table after a year is listed first', () => {
  const lines = growthText(growthOf(sizes.toReversed(), 2_000, 1_000), 2_000, 1_000).split('\n')
  expect(lines[2]).toMatch(/^payments\.journal +8000 +3\.8 +4000 +1\.9 +ever +696\.2$/)
  expect(lines.at(-1)).toMatch(/^all /)
})

test('column titles do not overlap', () => {
  const [, titles] = growthText(growthOf(sizes, 2_000, 1_000), 2_000, 1_000).split('\n')
  expect(titles!.trim().split(/ {2,}/)).toEqual(['rows', 'MiB', 'rows/1000', 'MiB/1000', 'kept, days', 'MiB in a year'])
})

describe('the disk is full', () => {
  // A day adds 2,000,000 bytes to the journal, which is permanent, and 1,000,000 to the inbox, which keeps 97 days.
  const grown = growthOf([...sizes, { ...sizes[0]!, of: 'bus', name: 'EVENTS' }], 2_000, 1_000)
  test.each([
    ['while all of it grows', 30_000_000, 10],
    ['after what ends by age has stopped growing', 95 * 3_000_000 + 20_000_000, 105],
  ])('the disk is full %s, with %p bytes free in %p days', (_, free, days) => {
    expect(daysUntilFull(grown, 1_000, free)).toBeCloseTo(days)
  })

  test('the disk is never full if all rows expire and fit', () => {
    const kept = growthOf([sizes[1]!], 2_000, 1_000)
    expect(daysUntilFull(kept, 1_000, 96_000_000)).toBe(Number.POSITIVE_INFINITY)
  })

  test('growth names the date on which the disk is full if the free space is given', () => {
    expect(fullText(10.9, 2_000)).toStartWith('disk full in about 10 days')
    expect(fullText(10.9, 5)).toEndWith('with only 5 payments this is far too pessimistic')
    expect(fullText(1.2, 2_000)).toStartWith('disk full in about 1 day,')
    expect(fullText(undefined, 2_000)).toContain('--free <GiB>')
    expect(fullText(10, 0)).toBe('no payments yet: cannot estimate when the disk will be full')
  })
})

test('rows are counted although the server has no statistics: a standby, or a server after a crash', async () => {
  await using server = await startScratchPostgres()
  const owner = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 1, onnotice: () => {} })
  const rowsOf = async (table: string) => (await readTables(sql)).tables.find(({ name }) => name === table)?.rows
  const add = (from: number, to: number) => owner`
    insert into payments.inbox (consumer, message_id) select 'suite', 'msg_' || n from generate_series(${from}::int, ${to}) n`
  try {
    await owner`alter table payments.inbox set (autovacuum_enabled = false)`
    await add(1, 40)
    await owner`select pg_stat_reset()`
    expect(await rowsOf('payments.inbox')).toBe(40)
    await add(41, 10_000)
    await owner`analyze payments.inbox`
    await owner`select pg_stat_reset()`
    await add(10_001, 20_000)
    const estimated = await rowsOf('payments.inbox')
    expect(estimated).toBeGreaterThan(19_000)
    expect(estimated).toBeLessThan(21_000)
  } finally {
    await Promise.all([owner, sql].map((one) => one.end({ timeout: 1 })))
  }
})
