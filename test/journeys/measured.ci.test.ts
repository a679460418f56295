import { beforeAll, describe, expect, test } from 'bun:test'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { serviceNames } from '#shared/messages/topic'
import { beginPaths, flowsEnding, pathsCostMicro } from '../support/flows'
import { verifiedUser } from '../support/people'
import { cashoutBody, entryIn } from '../support/requests'
import { sharedStack } from '../support/stack'
import { type Sample, scrape, valueIn } from '../support/telemetry/metrics'

let stack: RunningStack
let wallet: string
let samples: Sample[]
beforeAll(async () => {
  stack = await sharedStack()
  const person = await verifiedUser(stack, { ausdMicro: pathsCostMicro + 5_000_000n })
  wallet = person.wallet.toLowerCase()
  await person.get(`/verify/${person.wallet}`)
  await flowsEnding(await beginPaths(stack, person))
  // The cash-out of the demo is returned, and this one is paid.
  const cashout = await person.insist('/cashouts', await cashoutBody(stack, person))
  await entryIn(person, cashout.body.payoutId, 'paid')
  samples = await scrapeOfAll(stack)
})

const scrapeOfAll = (from: RunningStack) =>
  waitUntil('a scrape of all services', async () => {
    const found = await scrape(from)
    const isUp = (service: string) =>
      valueIn(found, 'ausd_service_up', { service }) === 1 && valueIn(found, 'ausd_figures_up', { service }) === 1
    return serviceNames.every(isUp) && found
  })

describe('the metrics after a top-up, a cash-out and a send', () => {
  test.each([
    ['ausd_http_request_duration_seconds', { service: 'gateway', route: '/topups' }],
    ['ausd_question_duration_seconds', { service: 'gateway', question: 'payments.topup.create' }],
    ['ausd_question_duration_seconds', { service: 'payments', question: 'pricing.quote.take' }],
    ['ausd_answer_duration_seconds', { service: 'pricing', question: 'pricing.quote.take' }],
    ['ausd_message_duration_seconds', { service: 'payments', topic: 'webhooks.payments.>' }],
    ['ausd_message_duration_seconds', { service: 'chain-relayer', topic: 'relay.credit' }],
    ['ausd_publish_duration_seconds', { service: 'payments', outcome: 'stored' }],
    ['ausd_database_call_duration_seconds', { service: 'payouts', kind: 'transaction' }],
    ['ausd_provider_call_duration_seconds', { service: 'payouts', outcome: 'ok' }],
    ['ausd_rpc_call_duration_seconds', { service: 'chain-relayer', outcome: 'ok' }],
    ['ausd_rpc_call_duration_seconds', { service: 'indexer-reader', outcome: 'ok' }],
    ['ausd_payment_paid_to_credited_seconds', { service: 'payments', kind: 'topup', held: 'no' }],
    ['ausd_cashout_created_to_paid_seconds', { service: 'payouts' }],
    ['ausd_operation_final_seconds', { kind: 'credit', outcome: 'settled' }],
    ['ausd_operation_final_seconds', { kind: 'send', outcome: 'settled' }],
  ])('have durations of %s of %p', (name, labels) => {
    expect(valueIn(samples, `${name}_count`, labels)).toBeGreaterThan(0)
    expect(valueIn(samples, `${name}_bucket`, { ...labels, le: '+Inf' })).toBeGreaterThan(0)
  })

  test('show every service as up, with its figures', () => {
    for (const service of serviceNames) {
      expect([service, valueIn(samples, 'ausd_service_up', { service })]).toEqual([service, 1])
      expect([service, valueIn(samples, 'ausd_figures_up', { service })]).toEqual([service, 1])
      expect(valueIn(samples, 'process_cpu_seconds_total', { service })).toBeGreaterThan(0)
    }
  })

  test('security: have no label with a wallet, an id or a hash, or with unlimited values', () => {
    const values = new Map<string, Set<string>>()
    for (const { name, labels } of samples)
      for (const [label, said] of Object.entries(labels)) {
        const key = `${name} ${label}`
        values.set(key, (values.get(key) ?? new Set()).add(said))
      }
    const free = [...values].filter(([key]) => !/ (copy|le|endpoint)$/.test(key))
    const looksLikeAnId = /0x[0-9a-f]{8}|[0-9a-f]{8}-[0-9a-f]{4}-|\d{5}|[A-Za-z0-9_-]{30}/i
    const odd = free.flatMap(([key, said]) =>
      [...said].filter((one) => looksLikeAnId.test(one) || one === 'other').map((one) => [key, one]),
    )
    expect(odd).toEqual([])
    expect(free.filter(([, said]) => said.size > 60)).toEqual([])
    expect(JSON.stringify(samples).toLowerCase()).not.toContain(wallet)
  })

  test('have fewer than 6,000 lines for the whole stack', () => {
    expect(samples.length).toBeLessThan(6_000)
  })
})
