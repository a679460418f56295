import { describe, expect, test } from 'bun:test'
import { readConfig } from '#platform/config'
import { isInPilot, limitOfAll, microOfAll, pilotWallets } from './pilot'

const ana = `0x${'aB'.repeat(20)}`
const dewi = `0x${'cd'.repeat(20)}`
const fields = { PILOT_WALLETS: pilotWallets, ALL: limitOfAll('limit on everything') }
const read = (env: Record<string, string>) => readConfig('suite', fields, env)

describe('the wallets of a pilot', () => {
  test('are all wallets unless some are listed', () => {
    const { pilotWallets: pilot } = read({})
    expect(isInPilot(pilot, dewi)).toBe(true)
  })
  test('are those of the list, in any case', () => {
    const { pilotWallets: pilot } = read({ PILOT_WALLETS: ` ${ana}, ${ana.toLowerCase()}` })
    expect([ana, ana.toLowerCase(), dewi].map((one) => isInPilot(pilot, one))).toEqual([true, true, false])
  })
  test.each(['0x12', `${ana},`.replace(ana, 'all'), `${ana};${dewi}`, ','])(
    'security: are refused as %p, so that a typing error opens the pilot to nobody',
    (list) => {
      expect(() => read({ PILOT_WALLETS: list })).toThrow('PILOT_WALLETS must')
    },
  )
})

test.each([
  ['none', null],
  ['0', 0n],
  ['500', 500_000_000n],
])('a limit on the sum of all wallets of %p is %p', (usd, micro) => {
  expect(microOfAll(read({ ALL: usd }).all)).toBe(micro)
})
