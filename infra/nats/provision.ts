import { connect, ErrorCode, type JetStreamManager, type NatsError, nanos } from 'nats'
import { type ConsumerPlan, consumers, type StreamPlan, streams } from '#infra/nats/topology'
import { runCommand } from '#shared/command'
import { readConfig, secretsOf } from '#shared/config'
import { integer, natsServers, text } from '#shared/config-fields'
import { pause } from '#shared/deadline'

export type Provisioning = {
  /** Where nats-server listens, or each of a cluster, comma-separated. */
  url: string
  user: string
  password: string
  /** Copies of each stream, at least; one when nobody says. What has more keeps them. */
  replicas?: number
  /** After so long a message that nobody acknowledged comes again; as the topology says when left out. */
  ackWaitMs?: number | undefined
}

/** JetStream's own numbers for "there is none" and for "it is there, but otherwise". */
const streamMissing = 10059
const consumerDiffers = 10148
/** A cluster has no leader at the moment (nats-server's `errors.json`). */
const leaderless = [10008, 10009]
/** A node that made a stream answers before the one that is asked next has heard of it (seen on 2.14). */
const unheardOf = [...leaderless, streamMissing]
/** Three nodes that start at once may need several elections, of some seconds each. */
const agreesWithinMs = 120_000

/**
 * Makes every stream, bucket and durable consumer, or changes it to what the topology says.
 * Repeatable at any time, also while services run, and after the store was lost. Throws when
 * JetStream refuses a change, e.g. to a setting that cannot be changed.
 */
export async function provisionNats(options: Provisioning): Promise<void> {
  const nc = await connect({
    servers: options.url.split(','),
    user: options.user,
    pass: options.password,
    name: 'provisioning',
    inboxPrefix: `_INBOX_${options.user}`,
    reconnect: false,
    timeout: 5_000,
  })
  try {
    // Whether there is JetStream at all is told by the first question: a cluster may have no leader yet.
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

/**
 * Changing what is right already is quiet, so the usual case costs one question. Making a stream that
 * exists would not do: JetStream counts its `max_bytes` a second time and says the disk is full.
 * Copies are only ever added: whoever provisions knows what a stream is, not what stands around it.
 */
async function ensureStream(
  manager: JetStreamManager,
  plan: StreamPlan,
  replicas: number,
): Promise<void> {
  const update = async () => {
    const { config } = await manager.streams.update(plan.name, plan)
    if (config.num_replicas < replicas)
      await manager.streams.update(plan.name, { num_replicas: replicas })
  }
  const add = () => manager.streams.add({ ...plan, num_replicas: replicas })
  try {
    await onceAgreed(leaderless, () =>
      update().catch(async (error) => {
        if (numberOf(error) !== streamMissing) throw error
        await add().catch(update) // Somebody else may have made it meanwhile.
      }),
    )
  } catch (fault) {
    throw refused(`stream ${plan.name}`, fault)
  }
}

const withWait = (plan: ConsumerPlan, ackWaitMs: number | undefined): ConsumerPlan =>
  ackWaitMs === undefined ? plan : { ...plan, ack_wait: nanos(ackWaitMs) }

/** Makes a durable consumer of a stream that was ensured, or changes it to what the topology says. */
export async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  plan: ConsumerPlan,
): Promise<void> {
  try {
    await onceAgreed(unheardOf, () =>
      manager.consumers.add(stream, plan).catch((error) => {
        if (numberOf(error) !== consumerDiffers) throw error
        return manager.consumers.update(stream, plan.durable_name, plan)
      }),
    )
  } catch (fault) {
    throw refused(`consumer ${plan.durable_name} of ${stream}`, fault)
  }
}

/**
 * Asks a cluster again while its nodes do not agree yet, or do not answer: each question here may be
 * asked twice. Whatever else it says is its answer.
 */
async function onceAgreed(disagreeing: readonly number[], ask: () => Promise<unknown>) {
  const givesUpAt = Date.now() + agreesWithinMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const again =
        disagreeing.includes(numberOf(error) ?? 0) ||
        (error as NatsError).code === ErrorCode.Timeout
      if (!again || Date.now() > givesUpAt) throw error
      await pause(100)
    }
  }
}

const numberOf = (error: unknown) => (error as NatsError).api_error?.err_code

const refused = (what: string, cause: unknown) =>
  new Error(`${what} could not be provisioned: ${(cause as Error).message}`, { cause })

/** What this step is told. */
export const fields = {
  NATS_URL: natsServers({ about: 'where nats-server listens' }),
  NATS_PASSWORD_ADMIN: text({ about: 'password of the NATS user admin', secret: true }),
  NATS_REPLICAS: integer({
    about: 'copies of each stream, never made fewer: 3 in a cluster',
    fallback: '1',
  }),
}

if (import.meta.main) {
  await runCommand(
    () => secretsOf(fields),
    async (say) => {
      const { natsUrl, natsPasswordAdmin, natsReplicas } = readConfig('provisioning', fields)
      const startedAt = Date.now()
      await provisionNats({
        url: natsUrl,
        user: 'admin',
        password: natsPasswordAdmin,
        replicas: natsReplicas,
      })
      say(`streams and consumers are as they should be (${Date.now() - startedAt} ms)`)
    },
  )
}
