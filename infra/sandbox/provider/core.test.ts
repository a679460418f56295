import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { loads, reachedFrom } from '#test/imports'
import { testConfig } from '#test/support/sandbox'
import { openBook } from '../book'
import type { Context, Draft } from '../context'
import { noFaults } from '../faults'
import { openRandom } from '../random'
import { openProvider } from './core'

/** Opens the provider at a time that only `pass` moves. */
function openAtRest() {
  let now = Date.UTC(2027, 0, 4, 3)
  let count = 0
  let planned: { whenMs: number; run: () => void }[] = []
  const told: Draft[] = []
  const chance = openRandom()
  chance.reseed(1)
  const context: Context = {
    config: { ...testConfig, payoutSettleMs: 86_400_000, sessionLifeMinMs: 600_000 },
    publicUrl: 'https://sandbox.test',
    book: openBook(),
    clock: () => now,
    chance,
    ids: {
      hex: (bytes) => {
        count += 1
        return count.toString(16).padStart(2 * bytes, '0')
      },
    },
    timers: { at: (whenMs, run) => void planned.push({ whenMs, run }), close: () => {} },
    webhooks: { send: (draft) => void told.push(draft) },
    faults: noFaults,
  }
  const provider = openProvider(context)
  const headers = new Headers({
    authorization: `Basic ${btoa(`${testConfig.secretKeys.ID}:`)}`,
    'idempotency-key': 'one',
  })
  const ask = (method: string, path: string, body?: object) => {
    const answer = provider.answer({
      method,
      path,
      query: new URLSearchParams(),
      headers,
      body: JSON.stringify(body ?? {}),
    })
    if (answer === 'silence') throw new Error('the provider stays silent')
    return { ...answer, body: answer.body as Record<string, unknown> }
  }
  const pass = (ms: number) => {
    now += ms
    const due = planned.filter(({ whenMs }) => whenMs <= now)
    planned = planned.filter(({ whenMs }) => whenMs > now)
    for (const { run } of due) run()
  }
  return { provider, ask, pass, told }
}

const payout = {
  reference_id: 'wd-1',
  channel_code: 'ID_BCA',
  channel_properties: { account_number: '12345678', account_holder_name: 'Sari Dewi' },
  amount: 250_000,
  currency: 'IDR',
}

test('a payout of the provider is paid after a day that passes at once', () => {
  const { ask, pass, told } = openAtRest()
  const { status, headers, body } = ask('POST', '/v2/payouts', payout)
  expect(status).toBe(200)
  expect(headers).toMatchObject({ Date: 'Mon, 04 Jan 2027 03:00:00 GMT' })
  const path = `/v2/payouts/${body.id}`
  pass(43_200_000)
  expect(ask('GET', path).body).toMatchObject({ status: 'REQUESTED' })
  pass(43_200_000)
  expect(ask('GET', path).body).toMatchObject({ status: 'SUCCEEDED', updated: '2027-01-05T03:00:00.000Z' })
  expect(told.map(({ event }) => event)).toEqual(['payout.succeeded'])
})

test('a bank account refuses payouts until a control ends that', () => {
  const { ask, provider } = openAtRest()
  const account = { channel_code: 'ID_BCA', account_number: '12345678' }
  provider.control('accounts', { ...account, refuses: 1 })
  expect(ask('POST', '/v2/payouts', payout)).toMatchObject({
    status: 400,
    body: { error_code: 'CHANNEL_CODE_NOT_SUPPORTED' },
  })
  provider.control('accounts', { ...account, refuses: 0 })
  expect(ask('POST', '/v2/payouts', payout).status).toBe(200)
  expect(() => provider.control('accounts', { ...account, refuses: 2 })).toThrow('probability')
})

test('an unknown key, path or control is refused', () => {
  const { ask, provider } = openAtRest()
  expect(ask('GET', '/v4/payouts')).toMatchObject({ status: 404 })
  const nobody = { method: 'GET', path: '/balance', query: new URLSearchParams(), headers: new Headers(), body: '' }
  expect(provider.answer(nobody)).toMatchObject({ status: 401 })
  expect(() => provider.control('payouts/disb-1/forget')).toThrow('no control')
})

test('the core of the provider reaches no HTTP, timers, clock, files or chance of the process', () => {
  const { files } = reachedFrom(repositoryDir, ['infra/sandbox/provider/core.ts'], loads)
  const own = [...files].filter((path) => path.startsWith('infra/'))
  expect(own.length).toBeGreaterThan(30)
  const outside =
    /\bfetch\(|\bBun\.|set(?:Timeout|Interval|Immediate)\(|Date\.now|new Date\(\)|Math\.random|\bcrypto\.|performance\.|node:fs/
  const reaching = own.filter((path) => outside.test(readFileSync(join(repositoryDir, path), 'utf8')))
  expect(reaching).toEqual([])
})
