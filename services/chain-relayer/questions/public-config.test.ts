import { expect, test } from 'bun:test'
import { autoRepayVersion } from '#shared/chain/line-version'
import { userGasOf } from './public-config'

test('apps get the gas limits of an automatic repayment only from a credit line that has it', () => {
  const of = (version: bigint) => Object.keys(userGasOf(version)).filter((name) => /AutoRepay|approve/.test(name))
  expect(of(autoRepayVersion)).toEqual(['setAutoRepay', 'approve'])
  expect(of(autoRepayVersion - 1n)).toEqual([])
  expect(userGasOf(autoRepayVersion - 1n)).toMatchObject({ draw: '400000' })
})
