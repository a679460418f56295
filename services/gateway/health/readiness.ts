import { sql } from 'drizzle-orm'
import { RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import type { Database } from '#shared/db/open'
import { within } from '#shared/deadline'
import { serviceNames } from '#shared/messages/topic'

/** The names of what does not answer; none means ready. */
export type Readiness = () => Promise<readonly string[]>

const probeMs = 800

/** The gateway answers by HTTP; the others over `$SRV.PING`. */
const others = serviceNames.filter((name) => name !== 'gateway')

/** Asks Postgres, NATS and every service at once; simultaneous callers share one round. */
export function openReadiness(bus: Bus, database: Database): Readiness {
  const round = async () => {
    const rounds = await Promise.all([
      missingOf('postgres', () => database.read((db) => db.execute(sql`select 1`))),
      missingOf('nats', () => bus.nc.flush()),
      silentServices(bus),
    ])
    return rounds.flat()
  }
  let running: Promise<string[]> | undefined
  return () => {
    running ??= round().finally(() => {
      running = undefined
    })
    return running
  }
}

async function missingOf(name: string, probe: () => Promise<unknown>): Promise<string[]> {
  return within(probe(), probeMs, name).then(
    () => [],
    () => [name],
  )
}

/** Those that did not answer the ping in time; done as soon as all of them did. */
async function silentServices({ nc }: Bus): Promise<string[]> {
  const silent = new Set<string>(others)
  const listening = async () => {
    const replies = await nc.requestMany('$SRV.PING', undefined, {
      strategy: RequestStrategy.Timer,
      maxWait: probeMs,
    })
    for await (const reply of replies) {
      silent.delete(reply.json<{ name: string }>().name)
      if (silent.size === 0) return
    }
  }
  await within(listening(), probeMs, 'the services').catch(() => {})
  return [...silent]
}
