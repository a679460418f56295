import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { migrateAll } from '#infra/migrations/migrate'
import { listDeadLetters, requestRedrive } from '#infra/ops/dead-letters'
import { listInFlight } from '#infra/ops/in-flight'
import { listFrozen, requestClearing } from '#infra/ops/wallets'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
let sql: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  await migrateAll({ adminUrl: server.adminUrl, passwords: server.passwords })
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

describe('an operator who looks for dead letters', () => {
  test('sees them oldest first, asks for one again, and not for one that was handled', async () => {
    await sql`
      insert into payouts.dead_letter (consumer, message_id, subject, payload, reason, died_at)
      values ('payouts', 'young', 's', '{}', 'r', now())`
    await sql`
      insert into payments.dead_letter
        (consumer, message_id, subject, payload, reason, died_at, redriven_at)
      values ('payments', 'old', 's', '{}', 'r', now() - interval '1 hour', null),
        ('payments', 'handled', 's', '{}', 'r', now(), now())`
    const deadLetters = await listDeadLetters(sql)
    expect(deadLetters.map(({ service, messageId }) => [service, messageId])).toEqual([
      ['payments', 'old'],
      ['payouts', 'young'],
    ])

    const one = { service: 'payments', consumer: 'payments' }
    expect(await requestRedrive(sql, { ...one, messageId: 'old' })).toBe(1)
    expect(await requestRedrive(sql, { ...one, messageId: 'handled' })).toBe(0)
    const asked = await sql`
      select message_id from payments.dead_letter where redrive_requested_at is not null`
    expect(asked.map((row) => row.message_id)).toEqual(['old'])
    await expect(
      requestRedrive(sql, { ...one, service: 'unknown', messageId: 'old' }),
    ).rejects.toThrow(/no service unknown/)
  })
})

describe('an operator who asks what is in flight', () => {
  test('sees what is not sent and what is not settled, oldest first, and nothing that is over', async () => {
    await sql`
      insert into gateway.outbox (id, subject, payload, published_at, created_at)
      values ('unsent', 'relay.drip', '{}', null, now()), ('sent', 'relay.drip', '{}', now(), now())`
    await sql`
      insert into chain_relayer.operation
        (id, kind, cause, wallet, payload, content_hash, leaves_micro, state, created_at)
      values ('waits', 'drip', 'a', '0x', '{}', 'h', 0, 'waiting', now() - interval '1 minute'),
        ('done', 'drip', 'b', '0x', '{}', 'h', 0, 'settled', now())`
    const found = await listInFlight(sql)
    expect(found.map(({ id, state }) => [id, state])).toEqual([
      ['waits', 'waiting'],
      ['unsent', 'unsent'],
    ])
  })
})

describe('an operator who asks for frozen wallets', () => {
  test('sees what is missing of each, and asks for the end of one with a reason', async () => {
    const [frozen, freed] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
    await sql`
      insert into payments.wallets (wallet, frozen, revision)
      values (${frozen}, true, 1), (${freed}, false, 2)`
    await sql`
      insert into payments.reversals (payment_id, wallet, lost_micro, made_good_micro)
      values ('pay_a', ${frozen}, 5000000, 2000000), ('pay_b', ${frozen}, 7, 7)`
    expect(await listFrozen(sql)).toMatchObject([
      { wallet: frozen, missingMicro: '3000000', onChain: true, payments: ['pay_a'] },
    ])
    expect(await requestClearing(sql, frozen.toUpperCase(), 'ticket 12')).toBe(true)
    expect(await requestClearing(sql, freed, 'ticket 13')).toBe(false)
    const asked = await sql`
      select wallet, clear_reason from payments.wallets where clear_requested_at is not null`
    expect([...asked]).toEqual([{ wallet: frozen, clear_reason: 'ticket 12' }])
  })
})
