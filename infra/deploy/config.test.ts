import { describe, expect, test } from 'bun:test'
import { devKey } from '#infra/local/keys'
import { readConfig } from '#platform/config'
import { fields } from './config'
import { wantedOf } from './wanted'

const env = {
  DEPLOYMENT: 'local',
  PUBLIC_SECRETS: 'allowed',
  RPC_URLS: 'http://127.0.0.1:1/secret',
  ADMIN_KEY: devKey('admin'),
  TREASURY_KEY: devKey('treasury'),
  LANE_KEYS: devKey('lane 0'),
}

describe('deploy configuration', () => {
  test.each(['AUSD_ADDRESS', 'CREDIT_LINE_ADDRESS', 'DEPLOY_BLOCK', 'ADMIN_KEY'])(
    'with a wrong %s is refused without saying the value',
    (name) => {
      const read = () => readConfig('deploy', fields, { ...env, [name]: '0xwrong' })
      expect(read).toThrow(new RegExp(`${name} must be`))
      expect(read).not.toThrow(/wrong/)
    },
  )

  test.each([
    ['GRACE_SECONDS', '86399', /GRACE_SECONDS must be at least 86400/],
    ['GRACE_SECONDS', '-1', /GRACE_SECONDS must be a whole number/],
    ['GRACE_SECONDS', '315360001', /GRACE_SECONDS must be at most 315360000/],
    ['HOLD_SECONDS', '31536001', /HOLD_SECONDS must be at most 31536000/],
    ['TERM_SECONDS', '0', /TERM_SECONDS must be at least 1/],
    ['TERM_SECONDS', '60', /TERM_SECONDS must be more than MIN_CYCLE_SECONDS/],
    ['TERM_SECONDS', '315360001', /TERM_SECONDS must be at most 315360000/],
    ['MIN_CYCLE_SECONDS', '2592000', /TERM_SECONDS must be more than MIN_CYCLE_SECONDS/],
    ['INITIAL_RATIO_BPS', '0', /INITIAL_RATIO_BPS must be at least 1/],
    ['INITIAL_RATIO_BPS', '9001', /INITIAL_RATIO_BPS must be at most 9000/],
    ['MIN_DEBT_AUSD_MICRO', `${2n ** 40n}`, /MIN_DEBT_AUSD_MICRO must be at most/],
    ['MIN_DEBT_AUSD_MICRO', '1.5', /MIN_DEBT_AUSD_MICRO must be/],
  ])('%s=%s is refused before anything is sent', (name, value, words) => {
    expect(() => readConfig('deploy', fields, { ...env, [name]: value })).toThrow(words)
  })

  test('the default terms are valid for the contract: a day of grace, and cycles of 1 AUSD for a minute', () => {
    const { wanted } = wantedOf(readConfig('deploy', fields, env))
    expect(wanted.terms).toMatchObject({
      graceSeconds: 86_400n,
      minDebt: 1_000_000n,
      minCycleSeconds: 60n,
    })
  })

  test('no address is required: by default nothing exists yet, and the token is AUSD of the test chain', () => {
    const { wanted } = wantedOf(readConfig('deploy', fields, env))
    expect(wanted).toMatchObject({ creditLine: 'deploy', deployBlock: 'find', chainId: 10_143 })
    expect(wanted.ausd).toBe('0xa9012a055bd4e0eDfF8Ce09f960291C09D5322dC')
  })

  test('the wanted state contains no key', () => {
    const { wanted } = wantedOf(readConfig('deploy', fields, env))
    const text = JSON.stringify(wanted, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    for (const key of [env.ADMIN_KEY, env.TREASURY_KEY, env.LANE_KEYS, 'secret'])
      expect(text).not.toContain(key.replace('0x', ''))
  })
})
