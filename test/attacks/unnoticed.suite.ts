import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { listDeadLetters } from '#infra/operations/cli/dead-letters/letters'
import { type Limit, limitedStates } from '#platform/metrics/state-limits'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { limitsOf as operations } from '../../services/chain-relayer/operations/operation'
import { limits as identities } from '../../services/gateway/identity/identity'
import { limits as payments } from '../../services/payments/payment'
import { limits as payouts } from '../../services/payouts/cashout'
import { groupStack } from '../runner/group'
import { booksClose } from '../support/books'
import { creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { cashoutBody, openCheckout } from '../support/requests'
import { operate } from '../support/stack'
import { scrape, valueIn } from '../support/telemetry/metrics'
import { becomes } from '../support/wait'
import { rpcKey } from './fixture'

let stack: Stack
let outside: ExternalControls
let sql: Sql

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
  sql = postgres(stack.adminUrl, { max: 4, onnotice: () => {} })
})
afterAll(() => sql?.end({ timeout: 1 }))

const logOf = (service: string) => readFileSync(join(stack.dir, 'logs', `${service}.log`), 'utf8').split('\n')

describe('a dead letter', () => {
  type Owner = 'payments' | 'payouts'
  const bury = (owner: Owner, id: string, subject: string, payload: object) => sql`
    with done as (
      insert into ${sql(owner)}.inbox (consumer, message_id, attempts, done_at)
      values (${owner}, ${id}, 40, now()))
    insert into ${sql(owner)}.dead_letter (consumer, message_id, subject, payload, reason)
    values (${owner}, ${id}, ${subject}, ${sql.json(payload as never)}, 'gave up after 40 attempts')`

  const delivery = (body: string, deliveryId: string) => ({
    account: 'ID',
    deliveryId,
    receivedAt: new Date().toISOString(),
    body,
  })
  const buryWebhook = (owner: Owner, id: string, body: string) =>
    bury(owner, id, paymentsWebhookSubject('ID', 'payments', id), delivery(body, id))

  test('is still handled after a redrive without effect, and counts once', async () => {
    const person = await verifiedUser(stack)
    await outside.faults({ webhooks: { drop: 1 } })
    const checkout = await openCheckout(person)
    await outside.pay(checkout.paymentId, 'QRIS')
    await outside.calm()
    const { payments } = await outside.book()
    const paid = payments!.find((one) => one.session_reference_id === checkout.paymentId)
    const capture = { event: 'payment.capture', data: { payment_id: paid.payment_id } }
    await buryWebhook('payments', 'lost-capture', JSON.stringify(capture))

    for (const place of ['1', '2', '3', '4']) {
      await buryWebhook('payments', `hook-${place}`, '{"event":"nobody.knows"}')
      await buryWebhook('payouts', `hook-${place}`, '{"event":"nobody.knows"}')
      const outcome = { operationId: `op-${place}`, wallet: person.wallet, reason: 'reverted' }
      const [hold, payout] = [`hold-${place}`, `payout-${place}`]
      await bury('payments', hold, 'relay.extend.failed', { ...outcome, cause: hold })
      await bury('payouts', payout, 'relay.return.failed', { ...outcome, cause: payout })
    }

    const dead = await listDeadLetters(sql)
    expect(dead).toHaveLength(17)
    const operator = (by: string) => operate(stack, 'dead-letters', 'redrive', 'all', '--reason', 'mended', '--by', by)
    const asked = await Promise.all([operator('sari'), operator('dewi')])
    await becomes(async () => (await listDeadLetters(sql)).map(({ reason }) => reason), [])
    expect(asked.map(({ code }) => code)).toEqual([0, 0])
    expect(await sql`select 1 from ops.outcomes where outcome = 'done'`).toHaveLength(17)
    await person.until('the credit', (me) => me.collateral?.value === checkout.ausd)
    expect(await creditsOf(stack, checkout.paymentId)).toHaveLength(1)
    for (const owner of ['payments', 'payouts'] as const) {
      const lines = logOf(owner)
      expect(lines.filter((line) => /dead-lettered/.test(line))).toEqual([])
      const redriven = lines.filter((line) => /dead letter redriven/.test(line))
      expect(redriven).toHaveLength(owner === 'payments' ? 9 : 8)
    }
    const unknown = /unknown webhook event recorded/
    expect(logOf('payments').filter((line) => unknown.test(line))).toHaveLength(4)
  })
})

describe('an item that is stuck', () => {
  /** Inserts a row that is past its state's limit and has no worker. */
  const stuck = {
    payments: (state: string, ageMs: number) => sql`
      insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
        fiat_minor, ausd_micro, quote_id, request_fingerprint, account, checkout_url, expires_at, reason, held,
        provider_payment_id, credited_at, updated_at)
      select 'stuck-' || ${state}, case when ${state} = 'repaid' then 'settlement' else 'topup' end,
        ${state}, wallet, pair, currency, rate_minor_per_usd, fiat_minor, ausd_micro,
        gen_random_uuid(), request_fingerprint, account, checkout_url, now() - ${ageMs} * interval '1 ms',
        case when ${state} in ('expired', 'replaced') then 'awaiting_rate' end, true,
        'stuck-' || ${state}, now(), now() - ${ageMs} * interval '1 ms'
      from payments.payments limit 1`,
    payouts: (state: string, ageMs: number) => sql`
      insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor,
        quote_id, request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code,
        bank_details, bank_details_key_id, updated_at)
      select 'stuck-' || ${state}, wallet, ${state}, rate_minor_per_usd, ausd_micro, fiat_minor,
        gen_random_uuid(), request_fingerprint, authorizer, 'stuck-' || ${state}, "authorization",
        channel_code, bank_details, bank_details_key_id, now() - ${ageMs} * interval '1 ms'
      from payouts.payouts limit 1`,
    'chain-relayer': (state: string, ageMs: number) => sql`
      insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash,
        leaves_micro, state, not_before, created_at)
      values ('stuck-' || ${state}, 'drip', 'stuck-' || ${state}, '0x' || repeat('5', 40), '{}', '',
        0, ${state}, now() + interval '5 minutes', now() - ${ageMs} * interval '1 ms')`,
    gateway: (state: string, ageMs: number) => sql`
      insert into gateway.identities (wallet, state, provider, decided_at, check_at, updated_at)
      values ('0x' || rpad(md5(${state}), 40, '5'), ${state}, 'sumsub', now(),
        now() + interval '1 hour', now() - ${ageMs} * interval '1 ms')`,
  }
  const tables = [
    ['payments', payments],
    ['payouts', payouts],
    ['chain-relayer', operations(300_000)],
    ['gateway', identities],
  ] as const
  const all = tables.flatMap(([service, limits]) =>
    limitedStates<string>(limits).map((state) => {
      const { afterMs, alarm } = (limits as Record<string, Limit>)[state]!
      return { service, state, afterMs, alarm }
    }),
  )

  test('in any state that has a successor raises an alarm', async () => {
    const person = await verifiedUser(stack, { ausdMicro: 20_000_000n })
    await openCheckout(person)
    const cashout = await person.insist('/cashouts', await cashoutBody(stack, person))
    expect(cashout.status).toBe(200)
    expect(all.length).toBeGreaterThan(15)
    for (const { service, state, afterMs } of all) await stuck[service](state, afterMs + 60_000)
    const called = () =>
      all.map(({ service, state, alarm }) => {
        const lines = logOf(service).filter((line) => line.includes('"alarm":true'))
        const own = lines.find((line) => line.includes(`"${state}"`) && line.includes(alarm))
        return `${service} ${state}: ${own ? 'called' : 'silence'}`
      })
    const everywhere = all.map(({ service, state }) => `${service} ${state}: called`)
    await becomes(async () => called(), everywhere)

    // A busy service may be missing from one answer and present in the next.
    const untold = async () => {
      const samples = await scrape(stack)
      return all.filter(({ service, state }) => {
        const [age, limit] = ['ausd_state_oldest_age_seconds', 'ausd_state_age_limit_seconds'].map((name) =>
          valueIn(samples, name, { service, state }),
        )
        return age === undefined || limit === undefined || age <= limit
      })
    }
    await becomes(untold, [])
    await sql`delete from payments.payments where id like 'stuck-%'`
    await sql`delete from payouts.payouts where id like 'stuck-%'`
    await sql`delete from chain_relayer.operation where id like 'stuck-%'`
    await sql`delete from gateway.identities where provider_ref is null and revision is null`
  })
})

describe('an outage of Postgres', () => {
  test('does not make the services end when the database is back', async () => {
    const person = await verifiedUser(stack)
    const services = ['payments', 'payouts', 'gateway', 'chain-relayer', 'indexer-reader'] as const
    const pids = () => services.map((name) => [name, stack.process(name).pid()])
    const before = pids()
    const server = stack.process('postgres')
    const failed = () => logOf('payments').filter((line) => /loop failed/.test(line)).length
    const since = failed()
    const linesBefore = logOf('payments').length - 1
    await server.stop('SIGKILL')
    await waitUntil('calls failing for a while', async () => {
      await Promise.all([1, 2, 3, 4].map(() => person.get('/me/activity').catch(() => {})))
      return failed() > since + 20
    })
    server.start()
    await person.until('an answer', (me) => me.verified === true)
    const news = () => logOf('payments').slice(linesBefore)
    const told = (word: string) => news().filter((line) => line.includes(word)).length
    await waitUntil('the log line of the return', () => told('"postgres available again"') === 1)
    expect(told('"postgres unavailable"')).toBe(1)
    const quote = await waitUntil('a quote', () => person.quote('USD/IDR').catch(() => undefined))
    const body = { amount: '50000', method: 'qr', quoteId: quote.id }
    expect((await person.insist('/topups', body)).status).toBe(200)
    expect(pids()).toEqual(before)
    for (const name of services)
      expect(logOf(name).filter((line) => /database stopped|not handled/.test(line))).toEqual([])
  })
})

describe('the key of an RPC endpoint', () => {
  test('is in no log while the endpoint fails in every way', async () => {
    const readers = ['chain-relayer', 'indexer-reader'] as const
    const proxy = stack.rpcProxy!
    const person = await verifiedUser(stack)
    const failures = () => logOf('chain-relayer').filter((line) => /"err":/.test(line)).length
    for (const faults of [{ disconnectRate: 1 }, { hangRate: 1 }]) {
      const { paymentId } = await openCheckout(person)
      const since = failures()
      proxy.setFaults(faults)
      await outside.pay(paymentId, 'QRIS')
      const news = async () => failures() > since
      await waitUntil(`failures by ${Object.keys(faults)}`, news)
      proxy.setFaults({})
    }
    // The count includes lines logged before the service was ready.
    proxy.setFaults({ disconnectRate: 1 })
    for (const name of readers) {
      const said = () => logOf(name).filter((line) => /chain not responding/.test(line)).length
      const since = said()
      stack.process(name).kill('SIGKILL')
      await waitUntil(`${name} waiting`, () => said() > since)
    }
    proxy.setFaults({})
    for (const file of readdirSync(join(stack.dir, 'logs')))
      expect([file, readFileSync(join(stack.dir, 'logs', file), 'utf8').includes(rpcKey)]).toEqual([file, false])
  })
})

test('after the hidden failures the books balance', () => booksClose(stack))
