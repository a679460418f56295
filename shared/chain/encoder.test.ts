import { expect, test } from 'bun:test'
import { encodeFunctionData } from 'viem'
import { creditLineAbi as abi } from '#shared/chain/credit-line-abi.gen'
import { encoderOf } from '#shared/chain/encoder'

const encode = encoderOf(abi)
const ref = `0x${'0a'.repeat(32)}` as const
const account = `0x${'0b'.repeat(20)}` as const
const op = { kind: 0, ref, account, amount: 7n, paidAt: 0n }

test('a call is encoded as viem encodes it, the first time and later', () => {
  for (const amount of [1n, 2n ** 200n]) {
    const args = [ref, account, amount, true] as const
    const expected = encodeFunctionData({ abi, functionName: 'topUp', args })
    expect(encode('topUp', args)).toBe(expected)
  }
  for (const ops of [[], [op], [op, { ...op, kind: 3 }]])
    expect(encode('many', [ops])).toBe(encodeFunctionData({ abi, functionName: 'many', args: [ops] }))
})
