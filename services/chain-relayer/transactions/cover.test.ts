import { describe, expect, test } from 'bun:test'
import type { OpenTransaction } from '../lanes/lane.store'
import { bidRoomWei, bidWei, budgetFor } from './cover'

describe('another transfer of a wallet whose budget of gas is 100', () => {
  test.each([
    ['while nothing was burnt nor is in flight', 0n, 0n, 30n, 'room'],
    ['that costs more than all of it, alone', 0n, 0n, 101n, 'room'],
    ['beside others it would pay for', 10n, 60n, 30n, 'room'],
    ['beside others it would not pay for', 10n, 61n, 30n, 'later'],
    ['alone, when little is left', 99n, 0n, 30n, 'room'],
    ['when nothing is left', 100n, 0n, 0n, 'spent'],
    ['when more than all was burnt', 101n, 30n, 30n, 'spent'],
  ] as const)('%s', (_, burnt, atStake, cost, answer) => {
    expect(budgetFor({ budget: 100n, burnt, atStake, cost })).toBe(answer)
  })
})

const gwei = 10n ** 9n
const coin = 10n ** 18n
const fees = { maxFeeWei: 400n * gwei, priorityWei: 2n * gwei }

describe('what a transaction bids for gas', () => {
  test.each([
    ['is the base fee and the tip', 100n, 102n],
    ['is no more than its highest fee', 399n, 400n],
  ] as const)('%s', (_, baseFee, price) => {
    expect(bidWei(1_000n, fees, baseFee * gwei)).toBe(1_000n * price * gwei)
  })
})

describe('what a lane may still bid for gas, at a base fee of 100 gwei', () => {
  /** So many open transactions of a million gas each, 0.102 coins. */
  const open = (count: number) =>
    Array(count).fill({ attempts: [{ gas: 1_000_000n, ...fees }] }) as OpenTransaction[]
  test.each([
    ['is 10 coins, however much it has', 500n * coin, 0, 10_000n],
    ['is what it has, when that is less', 3n * coin, 0, 3_000n],
    ['is less by what is open', 500n * coin, 50, 4_900n],
    ['is nothing when all of it is open', 500n * coin, 99, -98n],
  ] as const)('%s', (_, balanceWei, count, milliCoins) => {
    expect(bidRoomWei(balanceWei, open(count), 100n * gwei)).toBe((milliCoins * coin) / 1_000n)
  })

  test('counts the last attempt of each alone', () => {
    const [first] = open(1)
    const dearer = { ...first!.attempts[0]!, priorityWei: 4n * gwei }
    const bumped = [{ ...first!, attempts: [...first!.attempts, dearer] }]
    expect(bidRoomWei(500n * coin, bumped, 100n * gwei)).toBe(10n * coin - 104n * gwei * 1_000_000n)
  })
})
