import { afterAll, beforeAll, expect, test } from 'bun:test'
import { encodeAbiParameters, keccak256, numberToHex } from 'viem'
import { actors } from '#test/support/contracts'
import { judge } from '../judge'
import { readOutside } from '../read'
import { type BooksFixture, openBooksFixture } from '../test-support'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await openBooksFixture()
})
afterAll(() => fixture.close())

const balances = async () => {
  const rows = await fixture.admin<{ place: string; asset: string; amount: string; block: string }[]>`
    select place, asset, amount, block from books.balances order by place`
  return new Map(rows.map(({ place, ...row }) => [place, row]))
}

test('the job stores the AUSD of treasury and credit line at the block up to which logs were read', async () => {
  await fixture.chain.send('treasury', 'ausd', 'transfer', [actors.ana.address, 5_000_000n])
  await fixture.finalize()
  const block = await fixture.chain.client.getBlock({ blockTag: 'finalized' })
  const held = await fixture.chain.balanceOf(actors.treasury.address)
  const lent = await fixture.chain.balanceOf(fixture.place.creditLine)
  // This transfer is not final yet, so it is in neither balance.
  await fixture.chain.send('treasury', 'ausd', 'transfer', [actors.ana.address, 5_000_000n])
  await readOutside(fixture.copy())
  const [at] = await fixture.admin`select block from books.checkpoints where source = 'chain'`
  expect(BigInt(at!.block)).toBeGreaterThanOrEqual(block.number!)
  const found = await balances()
  expect(found.get('treasury')).toEqual({ asset: 'AUSD', amount: `${held}`, block: at!.block })
  expect(found.get('credit_line')).toEqual({ asset: 'AUSD', amount: `${lent}`, block: at!.block })
})

test('the check reports AUSD that the issuer burned from the credit line without an event, until it is replaced', async () => {
  const { chain, place } = fixture
  const { sql } = fixture.copy()
  const readAndJudge = async () => {
    await fixture.finalize()
    await readOutside(fixture.copy())
    const { breaks } = await judge(sql)
    return breaks.filter(({ rule }) => rule === 'credit_line_covered').map(({ item, amount }) => [item, amount])
  }
  expect(await readAndJudge()).toEqual([])
  const held = await chain.balanceOf(place.creditLine)
  const slot = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [place.creditLine, 0n]))
  await chain.client.setStorageAt({ address: place.ausd, index: slot, value: numberToHex(4n, { size: 32 }) })
  expect(await readAndJudge()).toEqual([['credit_line', 4n - held]])
  await chain.send('admin', 'ausd', 'mint', [place.creditLine, held - 4n])
  expect(await readAndJudge()).toEqual([])
})

test('an instance with an older reading does not overwrite newer balances', async () => {
  await readOutside(fixture.copy())
  await fixture.admin`update books.balances set block = block + 1000, amount = 7`
  await readOutside(fixture.copy())
  expect((await balances()).get('treasury')!.amount).toBe('7')
  await fixture.admin`truncate books.balances`
})
