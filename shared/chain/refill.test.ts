import { describe, expect, test } from 'bun:test'
import { journeyWei, lastCallWei } from '#shared/chain/gas'
import { dripCause, isRefillDue, refillNameOf, refillsInAdvance } from '#shared/chain/refill'

const none = { value: '0', shares: '0', pendingShares: '0', pendingValue: '0', pendingUntil: null }
const some = { ...none, value: '5', shares: '5' }
const having = (nativeWei: bigint, over: object = {}) => ({
  verified: true,
  frozen: false,
  drawn: '0',
  encumbered: '0',
  collateral: some,
  cycles: 0,
  balance: { ausd: '0', native: String(nativeWei) },
  ...over,
})
const poor = lastCallWei - 1n

describe('a refill', () => {
  test.each<[string, ReturnType<typeof having>, number, boolean]>([
    ['is due if the wallet cannot pay one withdrawal', having(poor), 0, true],
    ['is not due if it can', having(lastCallWei), 0, false],
    ['is due for a debt alone', having(poor, { collateral: none, drawn: '1' }), 0, true],
    ['is due for a debt that may come back', having(poor, { collateral: none, encumbered: '1' }), 0, true],
    ['is due for collateral on hold', having(poor, { collateral: { ...none, pendingShares: '1' } }), 0, true],
    ['is not due without collateral and debt', having(poor, { collateral: none }), 0, false],
    ['is not due to a wallet that is not verified', having(poor, { verified: false }), 0, false],
    ['is not due to a frozen wallet', having(poor, { frozen: true }), 0, false],
    ['is due after a closed cycle if the wallet cannot pay another', having(journeyWei - 1n, { cycles: 1 }), 0, true],
    ['is not due after a closed cycle if it can', having(journeyWei, { cycles: 1 }), 0, false],
    ['is due once for each closed cycle', having(journeyWei - 1n, { cycles: 1 }), 1, false],
  ])('%s', (_, account, given, isDue) => {
    expect(isRefillDue(account, given)).toBe(isDue)
  })

  test.each([0, 1, 7])(
    'is given to a wallet that sends its coin away twice more than it closed cycles: %d',
    (cycles) => {
      let given = 0
      while (isRefillDue(having(0n, { cycles }), given)) given++
      expect(given).toBe(cycles + refillsInAdvance)
    },
  )
})

test.each([
  ['2026-11-28T23:59:59.999+00:00', lastCallWei, { refill: '2026-11-28', asked: '23' }],
  ['2026-11-29T00:30:00+07:00', lastCallWei, { refill: '2026-11-28', asked: '17' }],
  ['2026-11-29T00:30:00+07:00', poor, { refill: '2026-11-28', asked: '17-last' }],
])(
  'a refill at %s of a wallet with %d wei is named by its day and hour in UTC, and by its need',
  (time, heldWei, name) => {
    expect(refillNameOf(having(heldWei), Date.parse(time))).toEqual(name)
  },
)

test('the cause of a drip is its wallet, and for a refill its name', () => {
  expect(dripCause({ wallet: '0x1' })).toBe('0x1')
  expect(dripCause({ wallet: '0x1', refill: '2026-11-28', asked: '17' })).toBe('0x1:2026-11-28:17')
})
