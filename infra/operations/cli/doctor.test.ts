import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pilotHoldSeconds, pilotMax, pilotValues } from '#infra/configuration/pilot'
import { processes } from '#infra/configuration/processes'
import { repositoryDir } from '#infra/local/folders'
import { type Deviation, type DoctorFacts, deviationsIn, page, settingsIn } from './doctor'

/** A deployment that is as the page says. */
const env = {
  ...Object.fromEntries(pilotValues),
  DEPLOYMENT: 'live',
  PILOT_WALLETS: `0x${'a'.repeat(40)}`,
  RPC_URLS: 'https://rpc.example.org/key,https://rpc.example.net',
  RATE_SOURCES: 'frankfurter,bnm,open-er-api,indodax',
  ALERTS_TO: 'https://pager.example.org',
  BACKUPS_TO: 'sftp://elsewhere.example.org',
  PAYER_NAME_SENT: 'yes',
  TERMS_VERSION: '2026-11-01',
  TRUSTED_PROXIES: '172.16.0.0/12',
  OPERATORS: `alice:0x${'a'.repeat(40)},bob:0x${'b'.repeat(40)}`,
}
const micro = (name: string) => String(pilotMax(name) * 1_000_000n)
const topups = {
  invitedOnly: true as const,
  dayAusdMaxOfAll: micro('TOPUP_ALL_DAY_MAX_USD'),
  dayAusdMax: micro('TOPUP_DAY_MAX_USD'),
  openAusdMax: micro('TOPUP_OPEN_MAX_USD'),
  openMax: Number(pilotMax('TOPUP_OPEN_MAX')),
  dayCountMax: Number(pilotMax('TOPUP_DAY_COUNT_MAX')),
}
const payouts = {
  invitedOnly: true as const,
  dayAusdMaxOfAll: micro('CASHOUT_ALL_DAY_MAX_USD'),
  dayAusdMax: micro('CASHOUT_DAY_MAX_USD'),
  marketClosed: { dayAusdMax: '0', dayAusdMaxOfAll: '0' },
}
type Changes = {
  env?: Record<string, string>
  topups?: object
  payouts?: object
  holdSeconds?: number
  webhooks?: Partial<DoctorFacts['webhooks']>
  needs?: string[]
}
const found = (change: Changes = {}, more: Partial<DoctorFacts> = {}): Deviation[] =>
  deviationsIn({
    setting: settingsIn({ ...env, ...change.env }),
    payments: { known: { topups: { ...topups, ...change.topups } } } as DoctorFacts['payments'],
    payouts: { known: { ...payouts, ...change.payouts } } as DoctorFacts['payouts'],
    chain: { known: { holdSeconds: change.holdSeconds ?? pilotHoldSeconds } } as DoctorFacts['chain'],
    webhooks: { ID: { known: true }, MY: { known: true }, ...change.webhooks },
    needs: change.needs ?? [],
    ...more,
  })

test('a deployment as the page says has no deviation', () => {
  expect(found()).toEqual([])
})

const headings = [...readFileSync(join(repositoryDir, page), 'utf8').matchAll(/^## (.+)$/gm)].map(([, words]) =>
  words!.toLowerCase().replaceAll(' ', '-'),
)

describe('a deviation is listed with its sentence and the heading of the page', () => {
  test.each<[string, Changes, string]>([
    ['one-world', { env: { DEPLOYMENT: 'test' } }, 'DEPLOYMENT is test'],
    ['operators', { env: { OPERATORS: 'none' } }, 'OPERATORS is none'],
    ['pilot-limits', { env: { PILOT_WALLETS: 'none' } }, 'every wallet can get verified'],
    ['pilot-limits', { topups: { invitedOnly: undefined } }, 'every wallet can top up'],
    ['pilot-limits', { payouts: { invitedOnly: undefined } }, 'every wallet can cash out'],
    ['pilot-limits', { topups: { dayAusdMaxOfAll: undefined } }, 'TOPUP_ALL_DAY_MAX_USD is not set'],
    ['pilot-limits', { payouts: { dayAusdMaxOfAll: undefined } }, 'CASHOUT_ALL_DAY_MAX_USD is not set'],
    ['pilot-limits', { topups: { dayAusdMaxOfAll: '500000001' } }, 'more than TOPUP_ALL_DAY_MAX_USD=500'],
    ['pilot-limits', { topups: { dayAusdMax: '100000001' } }, 'more than TOPUP_DAY_MAX_USD=100'],
    ['pilot-limits', { topups: { openAusdMax: '100000001' } }, 'more than TOPUP_OPEN_MAX_USD=100'],
    ['pilot-limits', { topups: { openMax: 100 } }, '100 open top-ups'],
    ['pilot-limits', { topups: { dayCountMax: 20 } }, '20 top-ups a day'],
    ['pilot-limits', { payouts: { dayAusdMax: '100000001' } }, 'more than CASHOUT_DAY_MAX_USD=100'],
    ['pilot-limits', { env: { CREDIT_MAX_AUSD: '' } }, 'CREDIT_MAX_AUSD is 100000'],
    ['pilot-limits', { env: { CREDIT_DAY_MAX_AUSD: '' } }, 'CREDIT_DAY_MAX_AUSD is 10000000'],
    ['hold', { holdSeconds: 60 }, 'The hold of card payments is 60 s'],
    ['hold', { env: { HOLD_MARGIN_MS: '' } }, 'HOLD_MARGIN_MS is 15000'],
    ['drip', { env: { DRIP_DAY_MAX_WEI: '' } }, 'DRIP_DAY_MAX_WEI is 1000'],
    [
      'closed-markets',
      { payouts: { marketClosed: { dayAusdMax: '1', dayAusdMaxOfAll: '1' } } },
      'market of the rupiah',
    ],
    ['alerts', { env: { ALERTS_TO: 'none' } }, 'ALERTS_TO is not set'],
    ['endpoints', { env: { RPC_URLS: 'https://rpc.example.org/a,https://rpc.example.org/b' } }, 'RPC_URLS has 1 host'],
    ['backups', { env: { BACKUPS_TO: '' } }, 'BACKUPS_TO is not set'],
    ['rates', { env: { RATE_SOURCES: 'frankfurter,bnm' } }, 'no source to compare with: frankfurter, bnm'],
    ['rates', { env: { RATE_SOURCES: 'indodax' } }, 'no source to compare with: indodax'],
    ['webhooks', { webhooks: { ID: { known: false } } }, 'Account ID has never delivered'],
    ['webhooks', { webhooks: { MY: { unknown: 'down' } } }, 'webhooks of account MY could not be read: down'],
    ['payer-names', { env: { PAYER_NAME_SENT: '' } }, 'PAYER_NAME_SENT is no'],
    ['terms', { env: { TERMS_VERSION: '' } }, 'TERMS_VERSION is none'],
    ['proxy', { env: { TRUSTED_PROXIES: 'none' } }, 'all callers share one rate limit'],
    ['the-first-hour', { needs: ['lane 0x is blocked'] }, 'Needs attention: lane 0x is blocked.'],
  ])('#%s %j', (anchor, change, words) => {
    expect(headings).toContain(anchor)
    expect(found(change)).toEqual([{ anchor, says: expect.stringContaining(words) }])
  })

  test('also if a service does not respond', () => {
    const silent = { unknown: 'nobody answers' }
    expect(found({}, { payments: silent, payouts: silent, chain: silent }).map(({ anchor }) => anchor)).toEqual([
      'pilot-limits',
      'pilot-limits',
      'hold',
      'closed-markets',
    ])
  })

  test('security: without an address of an endpoint, which may contain a key', () => {
    const text = JSON.stringify(found({ env: { RPC_URLS: 'https://rpc.example.org/secret-key' } }))
    expect(text).not.toContain('secret-key')
  })
})

test('every value of the pilot can be read by the process that has the setting', () => {
  for (const [name, value] of pilotValues) {
    if (value === '') continue
    const readers = Object.values(processes).filter((fields) => name in fields)
    expect(readers.length).toBeGreaterThan(0)
    for (const fields of readers) expect(() => fields[name]!.parse(value)).not.toThrow()
  }
})
