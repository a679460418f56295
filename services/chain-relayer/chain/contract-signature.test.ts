import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi } from 'viem'
import { within } from '#platform/deadline'
import { openContractSignatures } from './contract-signature'
import type { CallRequest } from './node'

afterEach(() => {
  setSystemTime()
})

test('signatures of contract wallets are still verified after the clock was set back', async () => {
  const node = { call: async () => ({ reverted: undefined }) }
  const accepts = openContractSignatures({ node, ethCallsPerSecond: 10 })
  const [signer, digest] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(32)}`] as const
  const asked = { signer, digest, signature: '0x33' } as const
  expect(await accepts(asked)).toBe(false)
  setSystemTime(new Date(Date.now() - 3_600_000))
  expect(await within(accepts(asked), 3_000, 'the check')).toBe(false)
})

test('long signatures of wallets that do not exist delay no short one', async () => {
  const calls: Hex[][] = []
  const call = async ({ data }: CallRequest) => {
    const { args } = decodeFunctionData({ abi: multicall3Abi, data })
    const checks = args![0] as readonly { target: Hex }[]
    calls.push(checks.map(({ target }) => target))
    const result = checks.map(() => ({ success: true, returnData: '0x' as Hex }))
    return { returned: encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result }) }
  }
  const accepts = openContractSignatures({ node: { call }, ethCallsPerSecond: 10 })
  const digest: Hex = `0x${'22'.repeat(32)}`
  const ask = (number: number, bytes: number) =>
    accepts({ signer: `0x${String(number).padStart(40, '0')}`, digest, signature: `0x${'33'.repeat(bytes)}` })
  const long = Array.from({ length: 12 }, (_, number) => ask(100 + number, 4_096))
  const short = Array.from({ length: 8 }, (_, number) => ask(number, 130))
  expect(await Promise.all(short)).toEqual(Array(8).fill(false))
  expect(calls).toHaveLength(1)
  expect(calls[0]!.slice(0, 8).map((target) => BigInt(target))).toEqual(short.map((_, at) => BigInt(at)))
  await Promise.allSettled(long)
})
