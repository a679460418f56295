import { describe, expect, test } from 'bun:test'
import { difference, type JournalLine, position, unbalanced } from '#shared/ledger/position'

const line = (account: JournalLine['account'], amount: bigint, asset: JournalLine['asset'] = 'AUSD'): JournalLine => ({
  account,
  asset,
  amount,
})

describe('a position', () => {
  test('sums the lines of each account and omits accounts that sum to 0', () => {
    const lines = [line('treasury', 5n), line('treasury', -2n), line('promises', 0n)]
    expect(position(lines)).toEqual([line('treasury', 3n)])
  })

  test('is refused with an asset that the account does not have', () => {
    expect(() => position([line('provider_id', 1n, 'MYR')])).toThrow('provider_id has no MYR')
  })

  test('changes to another position by their difference', () => {
    const before = [line('promises', -7n), line('exchange', 7n)]
    const after = [line('exchange', 7n), line('treasury', -7n)]
    const lines = difference(before, after)
    expect(lines).toEqual([line('treasury', -7n), line('promises', 7n)])
    expect(difference(after, after)).toEqual([])
  })
})

describe('ledger lines', () => {
  test.each([
    ['that come to 0 in each asset', [line('treasury', 1n), line('promises', -1n)], []],
    ['that come to 0 only together', [line('treasury', 1n), line('exchange', -1n, 'IDR')], ['AUSD', 'IDR']],
    ['of which one asset is short', [line('lanes', -3n, 'MON'), line('gas', 2n, 'MON')], ['MON']],
  ] as const)('%s', (_, lines, assets) => {
    expect(unbalanced(lines)).toEqual([...assets])
  })
})
