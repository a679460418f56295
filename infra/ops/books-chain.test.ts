import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type ChainBooks, readChainBooks } from '#infra/ops/books-chain'
import type { Place } from '#infra/ops/place'
import { actors, type ContractsFixture, openContractsFixture, refOf } from '#test/support/contracts'

setDefaultTimeout(60_000)

const ana = actors.ana.address
const ausd = 1_000_000n
let fixture: ContractsFixture
let books: ChainBooks

const relay = (functionName: 'topUp' | 'repayFor', args: readonly unknown[]) =>
  fixture.send('relayer', 'creditLine', functionName, args as never)
const repay = (ref: number, micro: bigint, held: boolean) =>
  relay('repayFor', [refOf(ref), ana, micro, held, 0n])
const take = (functionName: 'revokeTopUp' | 'revokeRepayment', ref: number) =>
  fixture.send('relayer', 'creditLine', functionName, [refOf(ref)])

beforeAll(async () => {
  fixture = await openContractsFixture()
  await relay('topUp', [refOf(1), ana, 1_000n * ausd, false])
  await relay('topUp', [refOf(2), ana, 5n * ausd, true])
  await fixture.send('ana', 'creditLine', 'draw', [100n * ausd, ana])
  await repay(3, 10n * ausd, false)
  await repay(4, 20n * ausd, true)
  await fixture.send('ana', 'creditLine', 'repay', [ausd])
  await repay(5, 72n * ausd, true)
  await take('revokeTopUp', 2)
  await take('revokeRepayment', 4)
  await take('revokeRepayment', 5)
  await fixture.client.mine({ blocks: 100 })
  const { ausd: token, creditLine } = fixture.deployment
  books = await readChainBooks({
    rpcUrl: fixture.client.transport.url!,
    ausd: token,
    creditLine,
    treasury: actors.treasury.address,
    deployBlock: 0n,
    logsRangeMax: 100n,
    gateway: '',
    sandbox: undefined,
  } satisfies Place)
})
afterAll(() => fixture.close())

/** What the chain did under a ref, in order. */
const under = (ref: number) =>
  books.effects
    .filter((effect) => effect.ref === refOf(ref))
    .map(({ what, held, ausdMicro }) => [what, held, ausdMicro / ausd])

describe('the books of the chain tell what was done under each ref', () => {
  test.each([
    ['a top-up', 1, [['credit', false, 1_000n]]],
    [
      'a held top-up that was taken back',
      2,
      [
        ['credit', true, 5n],
        ['revoke', false, 5n],
      ],
    ],
    ['a repayment', 3, [['repay', false, 10n]]],
    [
      'a held repayment that was taken back',
      4,
      [
        ['repay', true, 20n],
        ['revoke', false, 20n],
      ],
    ],
    [
      'a held repayment of more than is owed: its two parts, and one revocation of both',
      5,
      [
        ['repay', true, 69n],
        ['credit', true, 3n],
        ['revoke', false, 72n],
      ],
    ],
  ] as [string, number, unknown[]][])('%s', (_what, ref, effects) => {
    expect(under(ref)).toEqual(effects as never)
  })

  test('and nothing that a wallet did on its own', () => {
    expect(new Set(books.effects.map(({ ref }) => ref))).toEqual(
      new Set([1, 2, 3, 4, 5].map(refOf)),
    )
  })

  test('and their sums are what the treasury gave and got back', () => {
    const sumOf = (back: boolean) =>
      books.effects
        .filter(({ what }) => (what === 'revoke') === back)
        .reduce((sum, { ausdMicro }) => sum + ausdMicro, 0n)
    expect(sumOf(false)).toBe(books.toLineMicro)
    expect(sumOf(true)).toBe(books.fromLineMicro)
  })
})
