import { describe, expect, test } from 'bun:test'
import type { OpenTransaction } from '../lanes/lane.store'
import { bidRoomWei, bidWei, budgetFor } from './funding'

describe('the gas budget of 100 gives another transfer of the wallet', () => {
  test.each([
    ['room while nothing was burnt or is in flight', 0n, 0n, 30n, 'room'],
    ['room for one that costs more, without others', 0n, 0n, 101n, 'room'],
    ['room with others that it would cover', 10n, 60n, 30n, 'room'],
    ['no room yet with others that it would not cover', 10n, 61n, 30n, 'later'],
    ['room without others, when little is left', 99n, 0n, 30n, 'room'],
    // guard: a wallet spends no more gas than its daily budget
    ['no room when nothing is left', 100n, 0n, 0n, 'spent'],
    ['no room when more was burnt', 101n, 30n, 30n, 'spent'],
  ] as const)('%s', (_, reverted, atStake, cost, answer) => {
    expect(budgetFor({ budget: 100n, reverted: reverted, atStake, cost })).toBe(answer)
  })
})

const gwei = 10n ** 9n
const coin = 10n ** 18n
const fees = { maxFeeWei: 400n * gwei, priorityWei: 2n * gwei }

describe('the gas bid of a transaction', () => {
  test.each([
    ['is the base fee and the tip', 100n, 102n],
    ['is no more than its highest fee', 399n, 400n],
  ] as const)('%s', (_, baseFee, price) => {
    expect(bidWei(1_000n, fees, baseFee * gwei)).toBe(1_000n * price * gwei)
  })
})

describe('the remaining gas bid of a lane at a base fee of 100 gwei', () => {
  /** Returns transactions of a million gas, each of which bids 0.102 coins. */
  const open = (count: number) => Array(count).fill({ attempts: [{ gas: 1_000_000n, ...fees }] }) as OpenTransaction[]
  test.each([
    ['is 10 coins, with any larger balance', 500n * coin, 0, 10_000n],
    ['is its balance, if that is less', 3n * coin, 0, 3_000n],
    ['is reduced by open transactions', 500n * coin, 50, 4_900n],
    ['is used up by open transactions', 500n * coin, 99, -98n],
  ] as const)('%s', (_, balanceWei, count, milliCoins) => {
    expect(bidRoomWei(balanceWei, open(count), 100n * gwei)).toBe((milliCoins * coin) / 1_000n)
  })

  test('counts only the last attempt of each transaction', () => {
    const [first] = open(1)
    const dearer = { ...first!.attempts[0]!, priorityWei: 4n * gwei }
    const bumped = [{ ...first!, attempts: [...first!.attempts, dearer] }]
    expect(bidRoomWei(500n * coin, bumped, 100n * gwei)).toBe(10n * coin - 104n * gwei * 1_000_000n)
  })
})
