import { connect } from 'nats'
import { runCommand } from '#shared/command'
import { readConfig, secretsOf } from '#shared/config'
import { commonFields } from '#shared/service'

const deadlineMs = 2_000

const { NATS_URL, NATS_PASSWORD } = commonFields

/**
 * Pings one service over the NATS services API, as the service's own user. Throws when no copy of
 * it answers in time. Copies share a name: with several of them, any one of them may have answered.
 */
export async function pingService(service: string, url: string, password: string): Promise<void> {
  const nc = await connect({
    servers: url.split(','),
    user: service,
    pass: password,
    name: 'healthcheck',
    inboxPrefix: `_INBOX_${service}`,
    reconnect: false,
    timeout: deadlineMs,
  })
  try {
    await nc.request(`$SRV.PING.${service}`, undefined, { timeout: deadlineMs })
  } finally {
    await nc.close()
  }
}

/** Asks an HTTP address that is to answer 200. Throws when it does not in time. */
export async function pingHttp(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(deadlineMs) })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
}

async function check(target: string | undefined): Promise<void> {
  if (!target) throw new Error('usage: bun infra/ops/healthcheck.ts <service | http address>')
  if (target.startsWith('http')) return await pingHttp(target)
  const { natsUrl, natsPassword } = readConfig('healthcheck', { NATS_URL, NATS_PASSWORD })
  await pingService(target, natsUrl, natsPassword)
}

if (import.meta.main) {
  await runCommand(
    () => secretsOf({ NATS_PASSWORD }),
    () =>
      check(process.argv[2]).catch((cause: Error) => {
        throw new Error(`unhealthy: ${cause.message}`)
      }),
  )
  process.exit()
}
