import { expect, test } from 'bun:test'
import { journeyWei, leastBaseFeeWei, tipWei, userGasLimits } from '#shared/chain/gas'
import { defaultsOf } from '#test/support/settings'
import { fields } from '../../../services/chain-relayer/config'
import { feesWithin } from './chain'

const gwei = 1_000_000_000n

test.each([
  ['has room for the base fee to double', 10n ** 18n, { maxPriorityFeePerGas: gwei, maxFeePerGas: 201n * gwei }],
  [
    'bids what the wallet has, if that pays the fee of today',
    150n * gwei * 400_000n,
    { maxPriorityFeePerGas: gwei, maxFeePerGas: 150n * gwei },
  ],
  ['is refused if the wallet cannot pay the fee of today', 100n * gwei * 400_000n, undefined],
])('a transaction %s', (_, balanceWei, fees) => {
  expect(feesWithin({ baseFeeWei: 100n * gwei, gas: 400_000n, balanceWei })).toEqual(fees)
})

test.each<[string, (keyof typeof userGasLimits)[]]>([
  ['who repays', ['repayWithPermit']],
  ['who lets the debt be repaid automatically', ['approve', 'setAutoRepay']],
])('the drip of a deployment pays the way of a borrower %s through a cycle, at twice the least fee', (_, repays) => {
  const { dripWei, dripBelowWei } = defaultsOf('chain-relayer', fields)
  const calls = ['draw', ...repays, 'withdrawCollateral', 'withdrawCollateral'] as const
  // A wallet that has just too much for a drip must get as far.
  for (const begins of [dripWei, dripBelowWei]) {
    let balanceWei = begins
    for (const call of calls) {
      const [gas, baseFeeWei] = [userGasLimits[call], 2n * leastBaseFeeWei]
      expect(feesWithin({ baseFeeWei, gas, balanceWei })).toBeDefined()
      balanceWei -= gas * (baseFeeWei + tipWei) // The chain charges the whole limit.
    }
    expect(balanceWei).toBeGreaterThanOrEqual(0n)
  }
  expect(dripWei).toBeGreaterThanOrEqual(journeyWei)
})

test.each(['DRIP_WEI', 'DRIP_BELOW_WEI'])('a relayer with a smaller %s does not start', (name) => {
  expect(() => defaultsOf('chain-relayer', fields, { [name]: String(journeyWei - 1n) })).toThrow(/must be at least/)
})
