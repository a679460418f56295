import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { waitUntil } from '#test/support/wait'
import { openMint } from './mint'
import { countEnd, readQuoteId } from './quote-id'
import { openRows } from './test-support'

const rows = await openRows()
const admin: Sql = postgres(rows.adminUrl, { max: 1, onnotice: () => {} })
afterAll(async () => {
  await admin.end({ timeout: 1 })
  await rows[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await admin`truncate pricing.copies`
})

const rate = { pair: 'USD/IDR', minorPerUsd: 16_250n, spreadBps: 0n } as const
const { mintContext } = rows
const open = (clock = Date.now, lasting?: Parameters<typeof openMint>[1]) =>
  openMint({ ...mintContext, clock }, lasting)
type Mint = Awaited<ReturnType<typeof open>>

const some = ({ mint }: Mint, count: number) =>
  Array.from({ length: count }, () => {
    const quote = mint(rate)
    if (!quote) throw new Error('no quote was made')
    return quote
  })
const heldNow = () =>
  admin<{ number: number; holder: string; endsUntil: Date }[]>`
    select number, holder, ends_until as "endsUntil" from pricing.copies where holder is not null`
/** Leaves no number to be had but those that are held now. */
const occupyOthers = () =>
  admin`update pricing.copies set holder = 'nobody', ends_until = now() + interval '1 day'
    where holder is null`

describe('new quotes', () => {
  test('prove themselves, and live as long as configured', async () => {
    await using mint = await open()
    const before = Date.now()
    const [quote] = some(mint, 1)
    const { id, ...lock } = quote!
    expect(readQuoteId(mintContext.quoteSecrets, id)).toEqual(lock)
    expect(lock.expiresAtMs - before).toBeGreaterThanOrEqual(60_000)
    expect(lock.expiresAtMs - Date.now()).toBeLessThanOrEqual(60_000)
  })

  test('of two instances in one millisecond are all different', async () => {
    const stopped = Date.now()
    await using one = await open(() => stopped)
    await using other = await open(() => stopped)
    const ids = [...some(one, 500), ...some(other, 500)].map(({ id }) => id)
    expect(new Set(ids).size).toBe(1_000)
  })

  test('beyond the capacity of one moment expire in the next one', async () => {
    const stopped = Date.now()
    await using mint = await open(() => stopped)
    const ends = some(mint, 2 * countEnd).map(({ expiresAtMs }) => expiresAtMs - stopped)
    expect(ends).toEqual([
      ...Array<number>(countEnd).fill(60_000),
      ...Array<number>(countEnd).fill(60_001),
    ])
  })

  test('never expire much later than they should, also when the clock was set back', async () => {
    let nowMs = Date.now()
    await using mint = await open(() => nowMs)
    some(mint, 1)
    nowMs -= 3_600_000
    expect(mint.mint(rate)).toBeUndefined()
  })
})

describe('the id of an instance', () => {
  test('is released at an orderly end, for quotes that expire later', async () => {
    const first = await open()
    const [quote] = some(first, 1)
    await first[Symbol.asyncDispose]()
    expect(first.mint(rate)).toBeUndefined()
    expect(await heldNow()).toHaveLength(0)
    const [row] = await admin`select max(ends_until) as until from pricing.copies`
    expect(row!.until.getTime()).toBe(quote!.expiresAtMs + 1)
  })

  test('belongs to its holder while it is leased, and then no quote id is issued twice', async () => {
    const stopped = Date.now()
    // It stands still after this, and its clock with it: it never renews.
    await using frozen = await open(() => stopped, { leaseMs: 10_000, renewEveryMs: 3_600_000 })
    const before = some(frozen, 50)
    const [held] = await heldNow()
    await occupyOthers()
    let now = stopped
    await using next = await open(() => now)
    expect(next.mint(rate)).toBeUndefined()
    const { number, holder } = held!
    expect(await heldNow()).toContainEqual(expect.objectContaining({ number, holder }))
    now += 10_000
    await waitUntil('the number', async () => next.mint(rate), 60_000)
    expect((await heldNow()).map(({ number }) => number)).toContain(number)
    const after = [...some(frozen, 50), ...some(next, 50)]
    expect(new Set([...before, ...after].map(({ id }) => id)).size).toBe(150)
  })

  test('is unusable for an instance that was paused for longer than its lease', async () => {
    let nowMs = Date.now()
    await using frozen = await open(() => nowMs, { leaseMs: 30_000, renewEveryMs: 3_600_000 })
    some(frozen, 1)
    nowMs += 29_000
    some(frozen, 1)
    nowMs += 30_000
    expect(frozen.mint(rate)).toBeUndefined()
  })

  test('is replaced by another if another instance has it', async () => {
    await using mint = await open(Date.now, { leaseMs: 30_000, renewEveryMs: 20 })
    const [held] = await heldNow()
    await admin`update pricing.copies set holder = 'another' where number = ${held!.number}`
    await waitUntil(
      'another number',
      async () => (await heldNow()).some(({ holder }) => holder !== 'another'),
      60_000,
    )
    await waitUntil('a quote', async () => mint.mint(rate), 60_000)
  })

  test('is renewed as long as its instance lives', async () => {
    await using _mint = await open(Date.now, { leaseMs: 30_000, renewEveryMs: 20 })
    const [first] = await heldNow()
    await waitUntil(
      'a later end',
      async () => (await heldNow())[0]!.endsUntil.getTime() > first!.endsUntil.getTime(),
      60_000,
    )
    expect((await heldNow()).map(({ holder }) => holder)).toEqual([first!.holder])
  })

  test('is different for each of many instances that start at once', async () => {
    await using closing = new AsyncDisposableStack()
    const opened = await Promise.all(Array.from({ length: 8 }, () => open()))
    for (const mint of opened) closing.use(mint)
    expect(await heldNow()).toHaveLength(8)
  })
})
