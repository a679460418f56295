import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'nats'
import postgres, { type Sql } from 'postgres'
import { outsideOf } from '#infra/demo/external'
import { natsAnswers } from '#infra/local/nats'
import type { Stack } from '#infra/local/stack'
import { consumers } from '#infra/nats/topology'
import { checkBooks } from '#infra/operations/books/reconcile'
import { placeOf } from '#infra/operations/place'
import { prune } from '#infra/operations/pruning/prune'
import { beginEachKind, borrower, flowsEnding } from '../support/flows'
import { creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'
import { quickChecks } from '../support/settings'
import { ownStack } from '../support/stack'
import { waitUntil } from '../support/wait'

const movers = ['gateway', 'payments', 'payouts', 'chain_relayer'] as const
const oneDay = { payouts: { ...quickChecks.payouts, REVERSAL_WATCH_MS: '1' } }

let stack: Stack
let admin: Sql
let pruner: Sql
beforeAll(async () => {
  stack = await ownStack({
    terms: { holdSeconds: 6, minCycleSeconds: 0 },
    env: { ...quickChecks, ...oneDay },
  })
  admin = postgres(stack.adminUrl, { max: 2, onnotice: () => {} })
  pruner = postgres(`${stack.adminUrl}?role=pruning`, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await Promise.all([admin?.end({ timeout: 1 }), pruner?.end({ timeout: 1 })])
  await stack?.[Symbol.asyncDispose]()
})

/** Sets all times back by more than a year without activity. */
async function age(): Promise<void> {
  const year = admin`interval '400 days'`
  for (const schema of movers) {
    await admin`update ${admin(schema)}.inbox set done_at = done_at - ${year} where consumer <> 'books'`
    await admin`update ${admin(schema)}.outbox set published_at = published_at - ${year}`
  }
  await admin`update chain_relayer.signed_amounts set created_at = created_at - ${year}`
}

const rowsOf = async (schema: string, table: string, where = 'true') =>
  Number((await admin.unsafe(`select count(*) from ${schema}.${table} where ${where}`))[0]!.count)

async function effects() {
  expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  const { payouts, payments } = await outsideOf(stack.info).book()
  return {
    moves: await rowsOf('books', 'chain_moves'),
    transactions: await rowsOf('chain_relayer', 'transaction'),
    operations: await rowsOf('chain_relayer', 'operation'),
    postings: await Promise.all(['payments', 'payouts', 'chain_relayer'].map((schema) => rowsOf(schema, 'journal'))),
    anomalies: await rowsOf('payments', 'anomalies'),
    states: await admin`select id, state from payments.payments union all
      select id, state from payouts.payouts order by 1`,
    outside: [payouts!.length, payments!.length],
  }
}

async function deliverAllAgain(): Promise<void> {
  const { url, admin: user } = stack.info.nats
  const nc = await connect({
    servers: url,
    user: user.user,
    pass: user.password,
    inboxPrefix: '_INBOX_admin',
  })
  const manager = await nc.jetstreamManager()
  const readers = Object.entries(consumers).flatMap(([stream, plans]) =>
    plans
      .filter(({ durable_name: name }) => name !== 'integrator') // This consumer has no reader in the test.
      .map((plan) => [stream, plan.durable_name] as const),
  )
  for (const [stream, name] of readers) await manager.consumers.delete(stream, name)
  await stack.provision()
  await waitUntil('everything being handled again', async () => {
    const states = await Promise.all(readers.map(([stream, name]) => manager.consumers.info(stream, name)))
    const handled = states.reduce((sum, { ack_floor: floor }) => sum + floor.consumer_seq, 0)
    return handled > 0 && states.every((one) => one.num_pending + one.num_ack_pending === 0)
  })
  await nc.close()
}

describe('after everything prunable was pruned', () => {
  test('a replay of all of it has no second effect', async () => {
    const has = { ausdMicro: 100_000_000n, wei: 10n ** 19n }
    const people = await Promise.all([borrower(stack, has), borrower(stack, has)])
    await flowsEnding(await beginEachKind(stack, people, 7))
    await waitUntil(
      'every check of a cash-out having ended',
      async () => (await rowsOf('payouts', 'payouts', 'next_check_at is not null')) === 0,
    )
    const before = await effects()
    expect(before.moves).toBeGreaterThan(10)

    await age()
    const pruned = await prune(pruner)
    expect(pruned!.failed).toEqual({})
    for (const schema of movers) {
      expect([schema, await rowsOf(schema, 'inbox', `consumer <> 'books'`)]).toEqual([schema, 0])
      expect(pruned!.removed[`${schema}.outbox`]).toBeGreaterThan(1)
    }
    expect(await rowsOf('payouts', 'outbox')).toBe(0)

    await deliverAllAgain()
    // The list of recent payments is read every few seconds, and nothing is older.
    const since = `"window" = 'recent' and read_at < '${new Date().toISOString()}'`
    await waitUntil('the lists being read', async () => {
      const left = ['payments', 'payouts'].map((schema) => rowsOf(schema, 'listings', since))
      return (await Promise.all(left)).every((rows) => rows === 0)
    })
    expect(await rowsOf('chain_relayer', 'inbox')).toBeGreaterThan(5)
    // The outcome of a repeated order is published and handled again.
    await waitUntil('the outboxes being empty', async () => {
      const open = await Promise.all(movers.map((schema) => rowsOf(schema, 'outbox', 'published_at is null')))
      return open.every((rows) => rows === 0)
    })
    expect(await effects()).toEqual(before)
    expect(await Promise.all(movers.map((schema) => rowsOf(schema, 'dead_letter')))).toEqual([0, 0, 0, 0])
  })

  test('pending work is still done once after JetStream lost its store', async () => {
    const person = await verifiedUser(stack)
    const relayer = stack.process('chain-relayer')
    const checkout = await openCheckout(person)
    await relayer.stop('SIGKILL')
    await outsideOf(stack.info).pay(checkout.paymentId, 'QRIS')
    const ordered = `payload->>'refId' = '${checkout.paymentId}' and published_at is not null`
    await waitUntil('the order', async () => (await rowsOf('payments', 'outbox', ordered)) > 0)
    await age()
    await prune(pruner)
    expect(await rowsOf('payments', 'outbox', ordered)).toBeGreaterThan(0)

    const nats = stack.process('nats-server')
    await nats.stop('SIGKILL')
    rmSync(join(stack.dir, 'nats'), { recursive: true, force: true })
    nats.start()
    await waitUntil('nats-server being ready', () => natsAnswers(stack.info.nats.monitor))
    await stack.provision()
    relayer.start()
    await person.until('collateral', (me) => me.collateral?.value === checkout.ausd)
    expect(await creditsOf(stack, checkout.paymentId)).toHaveLength(1)
    expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  })
})
