import { connect, ErrorCode, type JetStreamManager, type NatsConnection, type NatsError, nanos } from 'nats'
import { type ConsumerPlan, consumers, type StreamPlan, streams } from '#infra/nats/topology'
import { serversOf } from '#platform/bus/servers'
import { runCommand } from '#platform/command'
import { readConfig, secretsOf } from '#platform/config'
import { encryptionFields, integer, natsServers, text } from '#platform/config-fields'
import { pause } from '#platform/deadline'

export type Provisioning = {
  /** URL of the server. For a cluster, the URLs of all nodes, separated by commas. */
  url: string
  user: string
  password: string
  /** Minimum number of replicas per stream, by default 1. Existing replicas are never removed. */
  replicas?: number
  /** Deadline in ms of a server that is starting. By default it must accept connections already. */
  acceptsWithinMs?: number
  /** Redelivery time in ms that overrides that of the topology. */
  ackWaitMs?: number | undefined
}

/** JetStream error codes (nats-server's `errors.json`). */
const streamMissing = 10059
const streamExists = 10058
const consumerDiffers = 10148
const consumerMissing = 10014
/**
 * Errors of a cluster without a leader, or without a node heard from since its start, and of a stream or consumer on
 * such a node (seen with nats-server 2.14).
 */
const nodesMissing = [10008, 10009, 10005, 10118, 10119]
/** Errors of a node that does not know a new stream or consumer yet (seen with 2.14). */
const unheardOf = [...nodesMissing, streamMissing, consumerMissing]
/** Deadline in ms. Nodes that start together may need several elections of a few seconds each. */
const agreesWithinMs = 120_000

/**
 * Creates or updates streams and consumers. It may run at any time, also while services run or after the store was
 * lost.
 */
export async function provisionNats(options: Provisioning): Promise<void> {
  const nc = await signIn(options, options.acceptsWithinMs)
  try {
    await Promise.all(options.url.split(',').map((url) => assertSynced({ ...options, url })))
    // The client's own check for JetStream is off, because it fails while a cluster has no leader.
    const manager = await nc.jetstreamManager({ timeout: 5_000, checkAPI: false })
    const replicas = options.replicas ?? 1
    await Promise.all(streams.map((plan) => ensureStream(manager, plan, replicas)))
    await Promise.all(
      Object.entries(consumers).flatMap(([stream, plans]) =>
        plans.map((plan) => ensureConsumer(manager, stream, withWait(plan, options.ackWaitMs))),
      ),
    )
  } finally {
    await nc.close()
  }
}

/** Facts of a server. `sync_always` is its setting `sync_interval: always`. */
type ServerFacts = { data: { jetstream?: { config?: { sync_always?: boolean } } } }

/**
 * Throws if the server acknowledges messages before they are on disk. A power cut then loses two minutes of every
 * stream, or whole streams (measured with nats-server 2.14). Nodes that cannot be reached are skipped.
 */
async function assertSynced(server: Provisioning): Promise<void> {
  // `sys`, the user of the system account, has the administrator's password (nats-server.conf).
  const signedIn = signIn({ ...server, user: 'sys' }).catch((error: NatsError) => {
    if (error.code === ErrorCode.AuthorizationViolation) throw error
  })
  const nc = await signedIn
  if (!nc) return
  try {
    const answer = await nc.request(`$SYS.REQ.SERVER.${nc.info?.server_id}.VARZ`)
    const { data } = answer.json<ServerFacts>()
    if (data.jetstream?.config?.sync_always) return
    throw new Error(
      `${server.url} acknowledges messages before they are on disk: ` +
        'set "sync_interval: always" under "jetstream" in its configuration and restart it',
    )
  } finally {
    await nc.close()
  }
}

const signInTries = 5

/** Errors of a server that has not opened its port, or is behind a proxy that has. */
const awayCodes: ReadonlySet<string> = new Set([
  ErrorCode.ConnectionRefused,
  ErrorCode.Disconnect,
  ErrorCode.ConnectionTimeout,
  ErrorCode.Timeout,
])

/**
 * Connects, with retries. nats-server closes a connection whose password arrives after two seconds, as from a busy
 * machine. A server that does not accept connections is tried for `withinMs` at least.
 */
async function signIn(options: Provisioning, withinMs = 0): Promise<NatsConnection> {
  const givesUpAt = performance.now() + withinMs
  for (let tries = 1; ; tries++) {
    try {
      return await connect({
        ...serversOf(options.url),
        user: options.user,
        pass: options.password,
        name: 'provisioning',
        inboxPrefix: `_INBOX_${options.user}`,
        reconnect: false,
        timeout: 5_000,
      })
    } catch (error) {
      const { code } = error as NatsError
      const mayAccept = awayCodes.has(code) && performance.now() < givesUpAt
      if (code === ErrorCode.AuthorizationViolation || (tries >= signInTries && !mayAccept)) throw error
      await pause(100)
    }
  }
}

/**
 * Creates or updates a stream. It tries an update first, because adding an existing stream can fail: JetStream counts
 * its `max_bytes` twice and reports a full disk. Replicas are only added, because the caller may not know how many
 * nodes there are.
 */
export async function ensureStream(manager: JetStreamManager, plan: StreamPlan, replicas: number): Promise<void> {
  const update = async () => {
    const { config } = await manager.streams.update(plan.name, plan)
    // nats 2.29 does not know this setting, which an update cannot change.
    if ((config as { persist_mode?: string }).persist_mode === 'async')
      throw new Error('it acknowledges messages before they are on disk: remove it, then repeat')
    if (config.num_replicas < replicas) await manager.streams.update(plan.name, { num_replicas: replicas })
  }
  const isMissing = (error: unknown) => numberOf(error) === streamMissing
  const add = () =>
    manager.streams.add({ ...plan, num_replicas: replicas }).catch((fault) =>
      // Another run may have added the stream first, or this run did and got no answer.
      update().catch((error) => Promise.reject(isMissing(error) ? fault : error)),
    )
  try {
    await onceAgreed([...nodesMissing, streamExists], () =>
      update().catch((error) => (isMissing(error) ? add() : Promise.reject(error))),
    )
  } catch (fault) {
    throw refused(`stream ${plan.name}`, fault)
  }
}

const withWait = (plan: ConsumerPlan, ackWaitMs: number | undefined): ConsumerPlan =>
  ackWaitMs === undefined ? plan : { ...plan, ack_wait: nanos(ackWaitMs) }

/**
 * Creates or updates a consumer. The update follows in any case, because it writes the consumer's file: nats-server
 * keeps a damaged one when the consumer is created again, and would lose the consumer at its next start (2.14).
 */
export async function ensureConsumer(manager: JetStreamManager, stream: string, plan: ConsumerPlan): Promise<void> {
  try {
    await onceAgreed(unheardOf, () =>
      manager.consumers
        .add(stream, plan)
        .catch((error) => {
          if (numberOf(error) !== consumerDiffers) throw error
        })
        .then(() => manager.consumers.update(stream, plan.durable_name, plan)),
    )
  } catch (fault) {
    throw refused(`consumer ${plan.durable_name} of ${stream}`, fault)
  }
}

/** Retries while the cluster's nodes disagree or time out. Every request here is idempotent. */
async function onceAgreed(disagreeing: readonly number[], ask: () => Promise<unknown>) {
  const givesUpAt = performance.now() + agreesWithinMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const again = disagreeing.includes(numberOf(error) ?? 0) || (error as NatsError).code === ErrorCode.Timeout
      if (!again || performance.now() > givesUpAt) throw error
      await pause(100)
    }
  }
}

const numberOf = (error: unknown) => (error as NatsError).api_error?.err_code

const refused = (what: string, cause: unknown) =>
  new Error(`could not provision ${what}: ${(cause as Error).message}`, { cause })

export const fields = {
  ...encryptionFields,
  NATS_URL: natsServers({
    about: 'nats-server, e.g. nats://127.0.0.1:4222; of a cluster, several',
  }),
  NATS_PASSWORD_ADMIN: text({ about: 'NATS password of admin', secret: true }),
  NATS_REPLICAS: integer({
    least: 1,
    most: 5,
    about: 'minimum replicas of each stream, 3 in a cluster; never reduced',
    fallback: '1',
  }),
}

if (import.meta.main) {
  await runCommand(
    () => secretsOf(fields),
    async (say) => {
      const { natsUrl, natsPasswordAdmin, natsReplicas } = readConfig('provisioning', fields)
      const startedAt = performance.now()
      await provisionNats({
        // `docker compose restart` runs this program as soon as the process of the server exists.
        acceptsWithinMs: 60_000,
        url: natsUrl,
        user: 'admin',
        password: natsPasswordAdmin,
        replicas: natsReplicas,
      })
      say(`streams and consumers are up to date (${Math.round(performance.now() - startedAt)} ms)`)
    },
  )
}
