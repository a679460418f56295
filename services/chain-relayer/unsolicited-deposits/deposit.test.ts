import { describe, expect, test } from 'bun:test'
import { type Abi, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { ChainReceipt } from '../chain/node'
import { arrivalIn } from './deposit'

const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const places = { ausd: address('a5'), creditLine: address('c1'), treasury: address('7e') }
const user = address('0a')
const name = { txHash: `0x${'11'.repeat(32)}`, logIndex: 1 } as const
const ref = `0x${'22'.repeat(32)}`

type Event = { readonly type: string; readonly name?: string; readonly inputs?: unknown }

function logOf(
  [emitter, abi]: readonly [Hex, Abi],
  eventName: string,
  args: Record<string, unknown>,
  logIndex: number,
) {
  const { inputs } = (abi as readonly Event[]).find(({ type, name }) => type === 'event' && name === eventName) as {
    inputs: readonly { name: string; type: string; indexed: boolean }[]
  }
  const words = inputs.filter(({ indexed }) => !indexed)
  return {
    address: emitter,
    logIndex,
    topics: encodeEventTopics({ abi, eventName, args } as never),
    data: encodeAbiParameters(
      words,
      words.map((word) => args[word.name] ?? 9n),
    ),
  }
}
const line = [places.creditLine, creditLineAbi] as const
const token = [places.ausd, ausdAbi] as const
const transfer = (from: Hex) => logOf(token, 'Transfer', { from, to: places.treasury, value: 5n }, 1)
const judge = (...logs: ReturnType<typeof logOf>[]) => arrivalIn(logs as unknown as ChainReceipt['logs'], places, name)

describe('AUSD sent by the credit line to the treasury', () => {
  test.each(['Drawn', 'CollateralWithdrawn'])('belongs to the user in the event %s', (event) => {
    const before = logOf(line, event, { account: user, to: places.treasury }, 0)
    expect(judge(before, transfer(places.creditLine))).toEqual({
      arrival: { ...name, wallet: user, ausdMicro: 5n, nonce: null },
    })
  })

  test.each([
    ['TopUpRevoked', { ref, account: user }, /for a revocation/],
    ['RepaymentRevoked', { ref, account: user }, /for a revocation/],
    ['LiquidityWithdrawn', { to: places.treasury }, /withdrew it from the lending pool/],
    ['YieldAdded', { payer: user }, /no event before it names a user/],
  ])('after %s belongs to no user, and the refusal has the reason', (event, args, reason) => {
    const judged = judge(logOf(line, event, args, 0), transfer(places.creditLine))
    expect(judged).toEqual({ refused: expect.stringMatching(reason) })
  })

  test('belongs to no user if another contract emitted the preceding event', () => {
    const forged = logOf([user, creditLineAbi], 'Drawn', { account: user, to: user }, 0)
    expect(judge(forged, transfer(places.creditLine))).toEqual({
      refused: expect.stringMatching(/no event before it names a user/),
    })
  })
})

test('AUSD sent by another contract belongs to that contract', () => {
  const before = logOf(line, 'Drawn', { account: user, to: places.treasury }, 0)
  const contract = address('0c')
  expect(judge(before, transfer(contract))).toMatchObject({ arrival: { wallet: contract } })
})
