import { renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'nats'
import postgres from 'postgres'
import { type Address, createTestClient, type Hex, http, parseEther } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { laneKeys } from '#infra/local/environment'
import type { Stack, StackProcess } from '#infra/local/stack'
import type { AlertName } from '#infra/operations/alerts/catalogue'
import { pause } from '#platform/deadline'
import { chainOf } from '#shared/chain/client'
import type { RateWorld } from '../conformance/rates/rate-world'
import { query } from '../support/database'
import { cashOut, creditedTopUp, topUp } from '../support/flows'
import { ausdOf } from '../support/ledger'
import { mint, spendTreasury } from '../support/people'
import { entryIn, openCheckout } from '../support/requests'
import { operate } from '../support/stack'
import { scrape, valueIn } from '../support/telemetry/metrics'
import { patienceMs, resume, suspend, waitUntil } from '../support/wait'

export type Scene = {
  readonly stack: Stack
  readonly person: Person
  readonly world: RateWorld
  readonly integrator: { answers: number }
}

type End = () => unknown

export type Condition = {
  readonly cause: string
  readonly alerts: readonly AlertName[]
  /** Causes the condition and returns a function that ends it. Money moved manually remains a break in the books. */
  readonly begin: (scene: Scene) => Promise<End>
}

const because = ['--reason', 'drill', '--by', 'sari']

function repeat(ask: () => Promise<unknown>, everyMs = 250): End {
  let isOver = false
  void (async () => {
    while (!isOver) {
      void ask().catch(() => {})
      await pause(everyMs)
    }
  })()
  return () => {
    isOver = true
  }
}

const quote = ({ person }: Scene) => person.post('/quote', { pair: 'USD/IDR' })

async function hang({ stack }: Scene, name: StackProcess): Promise<End> {
  const pid = stack.process(name).pid()
  await suspend(pid)
  return () => resume(pid)
}

async function stop({ stack }: Scene, name: StackProcess): Promise<End> {
  await stack.process(name).stop('SIGKILL')
  return () => stack.process(name).start()
}

const node = ({ stack: { info } }: Scene) =>
  createTestClient({
    mode: 'anvil',
    chain: chainOf(info.chain.chainId),
    transport: http(info.chain.rpcUrl),
  })
const lane = privateKeyToAddress(laneKeys[0] as Hex)

const reaches = ({ stack }: Scene, name: string, least: number, labels: Readonly<Record<string, string>> = {}) =>
  waitUntil(
    `${name} reaching ${least}`,
    async () => (valueIn(await scrape(stack), name, labels) ?? 0) >= least,
    patienceMs,
    500,
  )

async function asAdmin({ stack: { info } }: Scene) {
  const { user, password: pass } = info.nats.admin
  return connect({ servers: info.nats.url, user, pass, inboxPrefix: '_INBOX_admin' })
}

/** Locks a table, as a manual migration does. */
async function lockTable({ stack }: Scene, table: string): Promise<End> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
  const held = sql.begin(async (tx) => {
    await tx.unsafe(`lock table ${table} in access exclusive mode`)
    locked()
    await isOver
  })
  await Promise.race([isLocked, held])
  return async () => {
    end()
    await held
    await sql.end({ timeout: 2 })
  }
}

async function emptyTreasury({ stack }: Scene, leftMicro: bigint): Promise<End> {
  const treasury = stack.info.chain.treasury as Address
  const movedMicro = (await ausdOf(stack, treasury)) - leftMicro
  await spendTreasury(stack, movedMicro)
  return () => mint(stack, treasury, movedMicro)
}

export const conditions: readonly Condition[] = [
  {
    cause: 'pricing hangs while users ask for quotes',
    alerts: ['ServiceDown', 'RequestsUnanswered', 'RequestsFail', 'RequestsSlow'],
    begin: async (scene) => {
      const wake = await hang(scene, 'pricing')
      const calm = repeat(() => quote(scene))
      return () => [calm(), wake()]
    },
  },
  {
    cause: 'no gateway runs',
    alerts: ['GatewayNotScraped'],
    begin: (scene) => stop(scene, 'gateway'),
  },
  {
    cause: 'NATS is down',
    alerts: ['ServicesUnreachable'],
    begin: (scene) => stop(scene, 'nats-server'),
  },
  {
    cause: 'the disk of a log is full',
    alerts: ['LogNotWritten'],
    begin: async ({ stack, person }) => {
      const logged = stack.process('payments')
      const file = join(stack.dir, 'logs/payments.log')
      const restartWith = async (change: () => void) => {
        await logged.stop()
        change()
        logged.start()
      }
      await restartWith(() => {
        renameSync(file, `${file}.kept`)
        symlinkSync('/dev/full', file)
      })
      const calm = repeat(() => openCheckout(person), 2_000)
      return async () => {
        calm()
        await restartWith(() => renameSync(`${file}.kept`, file))
      }
    },
  },
  {
    cause: 'a table of payments is locked',
    alerts: ['MetricsMissing', 'DatabaseSlow'],
    begin: async (scene) => {
      const unlock = await lockTable(scene, 'payments.payments')
      const calm = repeat(() => scene.person.get('/me/activity'))
      return () => [calm(), unlock()]
    },
  },
  {
    cause: 'an operation waits for longer than its limit',
    alerts: ['StateTooLong'],
    begin: async ({ stack }) => {
      await operate(stack, 'pause', 'relaying', ...because)
      await query(
        stack,
        `insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash,
          leaves_micro, state, created_at)
        values ('stuck', 'drip', 'stuck', '0x' || repeat('5', 40), '{}', '', 0, 'waiting', now() - interval '1 day')`,
      )
      return async () => {
        await query(stack, "delete from chain_relayer.operation where id = 'stuck'")
        await operate(stack, 'resume', 'relaying', ...because)
      }
    },
  },
  {
    cause: 'a user pays less than the checkout asked for',
    alerts: ['PaymentNeedsReview'],
    begin: async ({ stack, person }) => {
      const { paymentId } = await openCheckout(person)
      const less = { channel_code: 'DANA', amount: 40_000 }
      await outsideOf(stack.info).control(`sessions/${paymentId}/pay`, less)
      await entryIn(person, paymentId, 'review')
      return () => operate(stack, 'review', 'resolve', paymentId, 'refund', ...because)
    },
  },
  {
    cause: 'a payment is credited late',
    alerts: ['CreditSlow'],
    begin: async (scene) => {
      const { stack, person } = scene
      const { paymentId } = await openCheckout(person)
      const start = await stop(scene, 'chain-relayer')
      await outsideOf(stack.info).pay(paymentId, 'QRIS')
      const paid = { service: 'payments', state: 'paid' }
      await reaches(scene, 'ausd_state_oldest_age_seconds', 25, paid)
      start()
      return () => entryIn(person, paymentId, 'credited')
    },
  },
  {
    cause: 'an operator posts to a journal by hand',
    alerts: ['BooksBreakOpen'],
    begin: async ({ stack, person }) => {
      const { paymentId } = await openCheckout(person)
      const post = (name: string, sign: string) =>
        query(
          stack,
          `insert into payments.journal (posting, line, event, item, account, asset, amount)
            values ('${name}', 0, 'by hand', '${paymentId}', 'treasury', 'AUSD', ${sign}5),
              ('${name}', 1, 'by hand', '${paymentId}', 'exchange', 'AUSD', -(${sign}5))`,
        )
      await post('by hand', '')
      return () => post('reversed', '-')
    },
  },
  {
    cause: 'almost all AUSD of the treasury is committed',
    alerts: ['TreasuryLow'],
    begin: async (scene) => {
      const { stack, person } = scene
      const { paymentId, ausd } = await openCheckout(person, { amount: '2000000' })
      await operate(stack, 'pause', 'relaying', ...because)
      await outsideOf(stack.info).pay(paymentId, 'QRIS')
      await entryIn(person, paymentId, 'paid')
      const refill = await emptyTreasury(scene, (BigInt(ausd) * 105n) / 100n)
      return async () => {
        await refill()
        await operate(stack, 'resume', 'relaying', ...because)
        await entryIn(person, paymentId, 'credited')
      }
    },
  },
  {
    cause: 'the chain hangs',
    alerts: ['TreasuryUnreadable', 'EndpointFails', 'RecordBehind'],
    begin: (scene) => hang(scene, 'chain'),
  },
  {
    cause: 'the RPC endpoint limits calls',
    alerts: ['EndpointRefuses'],
    begin: async ({ stack }) => {
      stack.rpcProxy!.setFaults({ tooManyRequestsRate: 0.7 })
      return () => stack.rpcProxy!.setFaults({})
    },
  },
  {
    cause: 'almost all money at the provider is committed',
    alerts: ['ProviderBalanceLow'],
    begin: async (scene) => {
      const { stack, person } = scene
      const { id } = await cashOut(stack, person)
      const wake = await hang(scene, 'chain-relayer')
      await outsideOf(stack.info).control('balance', { amount: 84_000 })
      return async () => {
        await outsideOf(stack.info).control('balance', { amount: 1_000_000_000 })
        wake()
        await entryIn(person, id, 'paid')
      }
    },
  },
  {
    cause: 'the providers hang',
    alerts: [
      'ProviderBalanceUnreadable',
      'ProviderListOld',
      'ProviderOutcomesUnknown',
      'IdentityUnanswered',
      'MessagesFail',
    ],
    begin: async (scene) => {
      const { stack, person } = scene
      const { info } = stack
      const { id } = await creditedTopUp(stack, person)
      const { payments } = await outsideOf(info).book()
      const paid = payments!.find((one) => one.session_reference_id === id)
      const wake = await hang(scene, 'sandbox')
      await query(stack, 'update gateway.identity_rechecks set next_check_at = now()')
      const body = JSON.stringify({
        event: 'payment.capture',
        data: { payment_id: paid.payment_id },
      })
      const deliver = () =>
        fetch(`${info.gateway}/webhooks/payments`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-callback-token': info.webhooks.payments.ID,
            'webhook-id': crypto.randomUUID(),
          },
          body,
        })
      await Promise.all(Array.from({ length: 12 }, deliver))
      return async () => {
        wake()
        await query(stack, 'update gateway.identity_rechecks set next_check_at = now()')
      }
    },
  },
  {
    cause: 'a lane has less than one coin above its minimum',
    alerts: ['LaneBalanceLow'],
    begin: async (scene) => {
      await node(scene).setBalance({ address: lane, value: parseEther('11.9') })
      return () => node(scene).setBalance({ address: lane, value: parseEther('1000') })
    },
  },
  {
    cause: 'the chain has transactions of a lane that the tables lack',
    alerts: ['LaneBlocked'],
    begin: async (scene) => {
      const { stack } = scene
      const [row] = await query<{ nonce: number }>(
        stack,
        `select next_nonce as nonce from chain_relayer.lane where address = '${lane.toLowerCase()}'`,
      )
      const start = await stop(scene, 'chain-relayer')
      const nonce = Number(row!.nonce)
      await node(scene).setNonce({ address: lane, nonce: nonce + 1 })
      start()
      return () => node(scene).setNonce({ address: lane, nonce })
    },
  },
  {
    cause: 'a message is malformed',
    alerts: ['DeadLetters'],
    begin: async (scene) => {
      const admin = await asAdmin(scene)
      await admin.jetstream().publish('relay.credit.settled', '{}')
      await admin.close()
      return () => operate(scene.stack, 'dead-letters', 'dismiss', 'all', ...because)
    },
  },
  {
    cause: "the integrator's server takes no event",
    alerts: ['EventsNotTaken'],
    begin: async ({ stack, person, integrator }) => {
      integrator.answers = 500
      const calm = repeat(() => topUp(stack, person), 5_000)
      return () => {
        integrator.answers = 204
        return calm()
      }
    },
  },
  {
    cause: 'the process operations is down',
    alerts: ['ServiceDown', 'BooksNotReconciled'],
    begin: (scene) => stop(scene, 'operations'),
  },
  {
    cause: 'the rate sources differ by five percent',
    alerts: ['RateUnusable'],
    begin: async ({ world }) => {
      world.turn('apart')
      return () => world.turn('fair')
    },
  },
  {
    cause: 'the rate sources differ by two percent',
    alerts: ['RateDoubtful'],
    begin: async ({ world }) => {
      world.turn('near')
      return () => world.turn('fair')
    },
  },
  {
    cause: 'a durable consumer is gone',
    alerts: ['ConsumerMissing'],
    begin: async (scene) => {
      const admin = await asAdmin(scene)
      await (await admin.jetstreamManager()).consumers.delete('EVENTS', 'payouts')
      await admin.close()
      return () => scene.stack.provision()
    },
  },
  {
    cause: 'a stream is full',
    alerts: ['OutboxStuck', 'StreamNearlyFull', 'HeartbeatMissed'],
    begin: async (scene) => {
      const { stack, person } = scene
      const admin = await asAdmin(scene)
      const manager = await admin.jetstreamManager()
      const { state } = await manager.streams.info('EVENTS')
      // Heartbeats expire, which would make room for others.
      await manager.streams.update('EVENTS', { max_bytes: Math.floor(state.bytes * 0.9) })
      await admin.close()
      const { id } = await topUp(stack, person)
      return async () => {
        await stack.provision()
        await entryIn(person, id, 'credited')
      }
    },
  },
]
