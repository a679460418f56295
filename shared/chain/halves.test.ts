import { expect, test } from 'bun:test'
import { BaseError, HttpRequestError, TimeoutError } from 'viem'
import { type BlockSpan, isRefusal, readInHalves } from '#shared/chain/halves'

const blocksOf = ({ from, to }: BlockSpan) =>
  Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at))
const limited = (blocksMax: number) => (span: BlockSpan) => {
  const blocks = blocksOf(span)
  return blocks.length > blocksMax ? Promise.reject(new BaseError('range')) : Promise.resolve(blocks)
}
const hundred = { from: 0n, to: 99n }

test.each([100, 10, 1])('a range is read whole and in order with a limit of %d blocks', async (most) => {
  expect(await readInHalves(hundred, { read: limited(most) })).toEqual(blocksOf(hundred))
})

test('a single block that is refused is read in the other way', async () => {
  const read = (span: BlockSpan) =>
    span.from <= 7n && span.to >= 7n ? Promise.reject(new BaseError('results')) : limited(100)(span)
  const readOne = async (block: bigint) => [block]
  expect(await readInHalves(hundred, { read, readOne })).toEqual(blocksOf(hundred))
  await expect(readInHalves(hundred, { read })).rejects.toThrow('results')
})

test('an endpoint that is down is not asked for halves', async () => {
  let asked = 0
  const read = () => {
    asked += 1
    return Promise.reject(new TimeoutError({ body: {}, url: 'a' }))
  }
  await expect(readInHalves(hundred, { read, mayHalve: isRefusal })).rejects.toThrow()
  expect(asked).toBe(1)
  expect(isRefusal(new HttpRequestError({ url: 'a', status: 413 }))).toBe(true)
  expect(isRefusal(new HttpRequestError({ url: 'a', status: 502 }))).toBe(false)
})
