import { describe, expect, test } from 'bun:test'
import { budgetFor } from './cover'

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
