import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Hex } from 'viem'
import { unexplainedMoves } from '#infra/operations/health/unexplained'
import { refOf } from '#shared/chain/ref'
import { actors } from '#test/support/contracts'
import { readOutside } from '../read'
import { type BooksFixture, openBooksFixture } from '../test-support'
import { acceptAsCapital, reopenAccepted } from './accept'
import { insertCashout, journalOf, moveSigned, nonceOf } from './test-support'
import { graceMs } from './treasury'

const treasury = actors.treasury.address
const ana = actors.ana.address
let fixture: BooksFixture
beforeAll(async () => {
  fixture = await openBooksFixture()
  await fixture.finalize()
  await readOutside(fixture.copy())
})
afterAll(() => fixture.close())

/** Reads the chain with the clock `afterMs` after the last block, in as many concurrent instances as `copies`. */
async function read({ afterMs = 0, copies = 1 } = {}) {
  await fixture.finalize()
  const { timestamp } = await fixture.chain.client.getBlock()
  fixture.now.aheadMs = Number(timestamp) * 1_000 - Date.now() + afterMs
  await Promise.all(Array.from({ length: copies }, () => readOutside(fixture.copy())))
}
const laterMs = graceMs + 60_000
const newest = async () => {
  const [row] = await fixture.admin<{ tx_hash: Hex; log_index: number }[]>`
    select * from books.chain_moves order by block desc, log_index desc limit 1`
  return `${row!.tx_hash}:${row!.log_index}`
}
const booked = async (item: string) => journalOf(fixture.admin, [item])
const transferIn = async (micro: bigint) => {
  await fixture.chain.send('budi', 'ausd', 'transfer', [treasury, micro])
  await read()
  return newest()
}
const unexplained = (item: string, micro: bigint) => ({
  event: 'unexplained',
  item,
  reverses: false,
  lines: { treasury: micro, suspense: -micro },
})

describe('books of the treasury', () => {
  test('AUSD minted for the treasury is booked as capital once, also by three instances', async () => {
    await fixture.chain.send('admin', 'ausd', 'mint', [treasury, 11n])
    await read({ copies: 3 })
    const item = await newest()
    expect(await booked(item)).toEqual([
      { event: 'mint', item, reverses: false, lines: { treasury: 11n, capital: -11n } },
    ])
    await fixture.admin`truncate books.checkpoints`
    await read({ copies: 2 })
    expect(await booked(item)).toHaveLength(1)
  })

  test('transfers between treasury and pool by the treasury key are booked', async () => {
    await fixture.chain.send('treasury', 'creditLine', 'fundLiquidity', [9n])
    await read()
    const item = await newest()
    expect((await booked(item)).map(({ lines }) => lines)).toEqual([{ treasury: -9n, credit_line: 9n }])
  })

  test('an unexplained transfer is booked in suspense after its grace period', async () => {
    const item = await transferIn(7n)
    expect(await booked(item)).toEqual([])
    await read({ afterMs: laterMs, copies: 3 })
    expect(await booked(item)).toEqual([unexplained(item, 7n)])
    await read({ afterMs: 2 * laterMs })
    expect(await booked(item)).toHaveLength(1)
  })

  test("an unexplained transfer is booked in suspense also if the chain's clock is ahead", async () => {
    const item = await transferIn(7n)
    await fixture.chain.warp(graceMs / 1_000)
    await fixture.finalize()
    fixture.now.aheadMs = 0
    await readOutside(fixture.copy())
    expect(await booked(item)).toEqual([unexplained(item, 7n)])
  })

  test('a take that a row explains, and transfers booked by a service, are not booked again', async () => {
    const nonce = nonceOf('taken')
    await insertCashout(fixture.admin, 'taken', { authorizer: ana, nonce })
    await moveSigned(fixture, 'ana', treasury, { micro: 5n, nonce })
    await fixture.chain.send('relayer', 'creditLine', 'topUp', [refOf('pay'), ana, 1_000n, false])
    await read()
    const before = (await journalOf(fixture.admin)).length
    await read({ afterMs: laterMs })
    expect(await journalOf(fixture.admin)).toHaveLength(before)
  })

  test('a take is in suspense until its row appears, and then no longer', async () => {
    const nonce = nonceOf('late')
    await moveSigned(fixture, 'ana', treasury, { micro: 5n, nonce })
    await read()
    const item = await newest()
    await read({ afterMs: laterMs })
    expect(await booked(item)).toEqual([unexplained(item, 5n)])
    await insertCashout(fixture.admin, 'late', { authorizer: ana, nonce })
    await read({ afterMs: laterMs, copies: 3 })
    expect(await booked(item)).toEqual([
      unexplained(item, 5n),
      { event: 'explained', item, reverses: true, lines: { treasury: -5n, suspense: 5n } },
    ])
    await read({ afterMs: 2 * laterMs })
    expect(await booked(item)).toHaveLength(2)
  })

  test('a signed transfer of another amount than its cash-out is unexplained, and is given back', async () => {
    const nonce = nonceOf('another sum')
    await insertCashout(fixture.admin, 'another sum', { authorizer: ana, nonce, micro: 5n })
    await moveSigned(fixture, 'ana', treasury, { micro: 4n, nonce })
    await read()
    const item = await newest()
    await read({ afterMs: laterMs })
    expect(await booked(item)).toEqual([unexplained(item, 4n)])
    const listed = () => fixture.admin`select name from (${unexplainedMoves(fixture.admin)}) u where name = ${item}`
    expect(await listed()).toHaveLength(1)
    const back = refOf(`giveback:${item}`)
    await moveSigned(fixture, 'treasury', actors.ana.address, { micro: 4n, nonce: back })
    await read()
    const [out] = await fixture.admin`
      select n.kind, n.item from books.chain_moves m join books.names n on n.key = m.key
      where m.tx_hash = ${(await newest()).split(':')[0]!}`
    expect(out).toEqual({ kind: 'giveback', item })
  })

  test('a suspense posting has the id of the transfer that would return it', async () => {
    const item = await transferIn(4n)
    const key = `${treasury}:${refOf(`giveback:${item}`)}:4`.toLowerCase()
    const [name] = await fixture.admin`select kind, item from books.names where key = ${key}`
    expect(name).toEqual({ kind: 'giveback', item })
    const nonce = refOf(`giveback:${item}`)
    await moveSigned(fixture, 'treasury', actors.budi.address, { micro: 4n, nonce })
    await read()
    const out = await newest()
    const [row] = await fixture.admin`
      select key from books.chain_moves where tx_hash = ${out.split(':')[0]!}`
    expect(row!.key).toBe(key)
    await read({ afterMs: laterMs })
    expect(await booked(out)).toEqual([])
    const accepting = acceptAsCapital(fixture.copy(), item, 'ours')
    await expect(accepting).rejects.toThrow('was returned')
  })

  test('an unexplained outgoing transfer is never booked and stays a break', async () => {
    await fixture.chain.send('treasury', 'ausd', 'transfer', [ana, 3n])
    await read({ afterMs: laterMs })
    expect(await booked(await newest())).toEqual([])
  })
})

describe('an operator accepts as capital', () => {
  const accept = (item: string, reason = 'sent by us') => acceptAsCapital(fixture.copy(), item, reason)

  test('an incoming transfer is accepted once, whether or not it is in suspense yet', async () => {
    const item = await transferIn(21n)
    await read({ afterMs: laterMs })
    await accept(item.toUpperCase().replace('0X', '0x'))
    await accept(item)
    const moved = { event: 'accepted as capital: sent by us', item, reverses: false }
    expect(await booked(item)).toEqual([unexplained(item, 21n), { ...moved, lines: { suspense: 21n, capital: -21n } }])
    const other = await transferIn(22n)
    await Promise.all([accept(other), accept(other)])
    await read({ afterMs: laterMs })
    expect(await booked(other)).toEqual([{ ...moved, item: other, lines: { treasury: 22n, capital: -22n } }])
    await fixture.admin`delete from books.checkpoints where source = 'treasury'`
    await read({ afterMs: laterMs })
    expect(await booked(item)).toHaveLength(2)
    expect(await booked(other)).toHaveLength(1)
  })

  describe('and takes that back', () => {
    const reopen = (item: string, reason = 'it was a customer') => reopenAccepted(fixture.copy(), item, reason)
    const sumsOf = async (item: string) => {
      const sums: Record<string, bigint> = {}
      for (const { lines } of await booked(item))
        for (const [account, amount] of Object.entries(lines)) sums[account] = (sums[account] ?? 0n) + amount
      return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
    }

    test('an incoming transfer is in suspense again, also one that never was, and can be accepted again', async () => {
      const item = await transferIn(23n)
      await read({ afterMs: laterMs })
      const early = await transferIn(24n)
      await accept(item)
      await accept(early)
      await read({ afterMs: laterMs })
      await reopen(item.toUpperCase().replace('0X', '0x'))
      await reopen(early)
      await read({ afterMs: laterMs })
      expect(await sumsOf(item)).toEqual({ treasury: 23n, suspense: -23n })
      expect(await sumsOf(early)).toEqual({ treasury: 24n, suspense: -24n })
      expect((await booked(item)).map(({ event }) => event)).toContain('reopened: it was a customer')
      await expect(reopen(item)).rejects.toThrow('is not accepted as capital, or no longer')
      await accept(item)
      expect(await sumsOf(item)).toEqual({ treasury: 23n, capital: -23n })
    })

    test('an outgoing transfer has no posting again, so that it is a break', async () => {
      await fixture.chain.send('treasury', 'ausd', 'transfer', [ana, 4n])
      await read()
      const item = await newest()
      await accept(item)
      await reopen(item)
      await read({ afterMs: laterMs })
      expect(await sumsOf(item)).toEqual({})
    })

    test('only an acceptance that stands is taken back, once by two operators at once, with a reason', async () => {
      const item = await transferIn(25n)
      await read({ afterMs: laterMs })
      await expect(reopen(item)).rejects.toThrow('is not accepted as capital, or no longer')
      await accept(item)
      await expect(reopen(item, ' ')).rejects.toThrow('a reason is required')
      const both = await Promise.allSettled([reopen(item), reopen(item)])
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(await sumsOf(item)).toEqual({ treasury: 25n, suspense: -25n })
    })
  })

  test('an outgoing transfer is accepted', async () => {
    await fixture.chain.send('treasury', 'ausd', 'transfer', [ana, 2n])
    await read()
    const item = await newest()
    await accept(item)
    expect((await booked(item))[0]!.lines).toEqual({ treasury: -2n, capital: 2n })
  })

  test('an acceptance is reversed when a row explains the transfer later', async () => {
    const nonce = nonceOf('accepted')
    await moveSigned(fixture, 'ana', treasury, { micro: 8n, nonce })
    await read()
    const item = await newest()
    await read({ afterMs: laterMs })
    await accept(item)
    await insertCashout(fixture.admin, 'accepted', { authorizer: ana, nonce, micro: 8n })
    await read({ afterMs: laterMs })
    const sums = new Map<string, bigint>()
    for (const { lines } of await booked(item))
      for (const [account, amount] of Object.entries(lines)) sums.set(account, (sums.get(account) ?? 0n) + amount)
    expect([...sums.values()]).toEqual([0n, 0n, 0n])
    expect((await booked(item)).filter(({ reverses }) => reverses)).toHaveLength(2)
  })

  test('only unexplained transfers that were read are accepted, with a reason', async () => {
    const item = await transferIn(1n)
    await expect(accept(item, ' ')).rejects.toThrow('a reason is required')
    await expect(accept('0x12:1')).rejects.toThrow('neither a transfer')
    await expect(accept(`0x${'0'.repeat(64)}:1`)).rejects.toThrow('has been read')
    const nonce = nonceOf('explained')
    await insertCashout(fixture.admin, 'explained', { authorizer: ana, nonce })
    await moveSigned(fixture, 'ana', treasury, { micro: 5n, nonce })
    await read()
    await expect(accept(await newest())).rejects.toThrow('is already accounted for')
    await fixture.chain.send('relayer', 'creditLine', 'topUp', [refOf('credit'), ana, 1_000n, false])
    await read()
    await expect(accept(await newest())).rejects.toThrow('is already accounted for (credit)')
  })
})
