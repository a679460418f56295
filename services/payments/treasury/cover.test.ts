import { expect, test } from 'bun:test'
import { canRepay, freeMicro } from './cover'

const treasury = {
  balanceMicro: 100n,
  drawableMicro: 100n,
  orderedMicro: 0n,
  owedMicro: 0n,
  creditMaxMicro: 100n,
  repayMaxMicro: 100n,
  readAt: new Date(0),
}

test.each([
  ['all of it, when nothing is promised', {}, 0n, 100n],
  ['less the promises', {}, 30n, 70n],
  ['less possible returns of cash-outs', { owedMicro: 25n }, 30n, 45n],
  ['the allowance of the credit line', { drawableMicro: 40n }, 30n, 10n],
  ['an allowance that owed AUSD does not use up', { drawableMicro: 60n, owedMicro: 25n }, 0n, 60n],
  ['less an order that no row knows', { orderedMicro: 50n }, 30n, 50n],
  ['less an order that is a promise, once', { orderedMicro: 20n }, 30n, 70n],
  ['below 0, when more was promised', {}, 130n, -30n],
] as const)('free AUSD is %s', (_, change, promised, free) => {
  expect(freeMicro({ ...treasury, ...change }, promised)).toBe(free)
})

test.each([
  ['with just enough', {}, 100n, true],
  ['with a millionth too little', {}, 101n, false],
  ['with cash-outs that may be returned', { owedMicro: 100n }, 100n, true],
  ['with too small an allowance', { drawableMicro: 99n }, 100n, false],
] as const)('a debt is repaid %s', (_, change, debt, can) => {
  expect(canRepay({ ...treasury, ...change }, debt)).toBe(can)
})
