import { describe, expect, test } from 'bun:test'
import {
  type AbiFunction,
  decodeFunctionData,
  encodeFunctionData,
  encodeFunctionResult,
  getAbiItem,
  type Hex,
  multicall3Abi,
} from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { multicall3, multicallAbi } from '../chain/multicall'
import { decodeAccountCall, encodeAccountCall, type LineState } from './account-call'

const contracts = { ausd: `0x${'a5'.repeat(20)}`, creditLine: `0x${'c1'.repeat(20)}` } as const
const wallet = (byte: string) => `0x${byte.repeat(20)}` as const
const accountOf = getAbiItem({ abi: creditLineAbi, name: 'accountOf' }) as AbiFunction
const fields = (accountOf.outputs[0] as unknown as { components: readonly { name: string; type: string }[] }).components

/** Returns a state in which all fields differ; `largest` uses the largest numbers. */
const lineOf = (seed: number, largest = false): LineState =>
  Object.fromEntries(
    fields.map(({ name, type }, at) => {
      if (type === 'bool') return [name, (seed + at) % 2 === 0]
      const bits = BigInt(type.slice('uint'.length))
      return [name, largest ? 2n ** bits - 1n : BigInt(seed * 100 + at)]
    }),
  ) as unknown as LineState

const answerOf = (lines: readonly LineState[], blockNumber: bigint, failed = -1): Hex => {
  const word = (value: bigint) =>
    encodeFunctionResult({ abi: multicallAbi, functionName: 'getBlockNumber', result: value })
  const line = (result: LineState) => encodeFunctionResult({ abi: creditLineAbi, functionName: 'accountOf', result })
  const permission = encodeFunctionResult({
    abi: creditLineAbi,
    functionName: 'autoRepayOf',
    result: [5n, true, 6n, 8n],
  })
  const results = lines.flatMap((one, at) => [line(one), word(BigInt(at) + 7n), word(9n), permission])
  results.push(word(blockNumber), word(1_795_244_400n), word(31n), word(41n), word(1n))
  return encodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    result: results.map((returnData, at) =>
      at === failed ? { success: false, returnData: '0x' as const } : { success: true, returnData },
    ),
  })
}

describe('the call that reads wallets', () => {
  test.each([1, 2, 80])('is encoded as viem encodes it, for %d', (count) => {
    const wallets = Array.from({ length: count }, (_, at) => wallet((at + 1).toString(16).padStart(2, '0')))
    const data = encodeAccountCall(contracts, wallets)
    const calls = wallets.flatMap((one) => [
      {
        target: contracts.creditLine,
        callData: encodeFunctionData({
          abi: creditLineAbi,
          functionName: 'accountOf',
          args: [one],
        }),
      },
      {
        target: contracts.ausd,
        callData: encodeFunctionData({ abi: ausdAbi, functionName: 'balanceOf', args: [one] }),
      },
      {
        target: multicall3,
        callData: encodeFunctionData({
          abi: multicallAbi,
          functionName: 'getEthBalance',
          args: [one],
        }),
      },
      {
        target: contracts.creditLine,
        callData: encodeFunctionData({ abi: creditLineAbi, functionName: 'autoRepayOf', args: [one] }),
      },
    ])
    const block = encodeFunctionData({ abi: multicallAbi, functionName: 'getBlockNumber' })
    calls.push({ target: multicall3, callData: block })
    const time = encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'getCurrentBlockTimestamp',
    })
    calls.push({ target: multicall3, callData: time })
    for (const functionName of ['totalCollateral', 'totalShares', 'paused'] as const) {
      const callData = encodeFunctionData({ abi: creditLineAbi, functionName })
      calls.push({ target: contracts.creditLine, callData })
    }
    const said = calls.map((one, at) => ({ ...one, allowFailure: at < 4 * count }))
    expect(data).toBe(encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [said] }))
    expect(decodeFunctionData({ abi: multicall3Abi, data }).functionName).toBe('aggregate3')
  })
})

describe('the result of the call that reads wallets', () => {
  test.each([
    ['of one wallet', [lineOf(1)]],
    ['of several', [lineOf(1), lineOf(2), lineOf(3)]],
    ['of the largest numbers', [lineOf(1, true), lineOf(2, true)]],
  ])('is decoded field by field: %s', (_, lines) => {
    const { reads, pool, ...block } = decodeAccountCall(answerOf(lines, 77n), lines.length)
    expect(block).toEqual({ blockNumber: 77n, blockTime: 1_795_244_400n, paused: true })
    expect(pool).toEqual({ collateralMicro: 31n, shares: 41n })
    const autoRepay = { maxPerCycle: 5n, fromCollateral: true, taken: 6n, startsAt: 8n }
    for (const [at, read] of reads.entries())
      expect(read).toEqual({ line: lines[at]!, ausdMicro: BigInt(at) + 7n, nativeWei: 9n, autoRepay })
  })
  test('lacks only the permission of a wallet if the contract is too old to have it', () => {
    const { reads } = decodeAccountCall(answerOf([lineOf(1), lineOf(2)], 77n, 7), 2)
    expect(reads.map((read) => read && read.autoRepay === null)).toEqual([false, true])
    expect(reads.map((read) => read?.line)).toEqual([lineOf(1), lineOf(2)])
  })
  test.each([4, 5, 6])('lacks only the second wallet if its call %d failed', (failed) => {
    const answer = answerOf([lineOf(1), lineOf(2), lineOf(3)], 77n, failed)
    const { reads } = decodeAccountCall(answer, 3)
    expect(reads.map((read) => read?.line)).toEqual([lineOf(1), undefined, lineOf(3)])
  })
  test.each<[string, Hex | undefined]>([
    ['that is none', undefined],
    ['that is empty', '0x'],
    ['of fewer calls', answerOf([lineOf(1)], 77n)],
    ['of more calls', answerOf([lineOf(1), lineOf(2), lineOf(3)], 77n)],
    ['that was cut', answerOf([lineOf(1), lineOf(2)], 77n).slice(0, 900) as Hex],
  ])('is rejected: %s', (_, answer) => {
    expect(() => decodeAccountCall(answer, 2)).toThrow()
  })
})
