import type { Ask } from '#shared/bus/ask'
import { consume } from '#shared/bus/consume'
import type { Bus } from '#shared/bus/open'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import { gatewayMessaging } from '../schema.store.ts'
import { type IdentityConfig, identityProviderOf } from './choose-provider.ts'
import { findIdentity } from './identity.store.ts'
import { noteLink } from './recheck.store.ts'
import { recheckIdentities } from './recheck.ts'
import { relayedReactions } from './relayed.reactions.ts'
import { sweepIdentities } from './stuck.ts'
import { verdictReactions } from './verdict.reactions.ts'

/** The parts of `main.ts` that identity works with. */
export type IdentityDeskOptions = {
  config: IdentityConfig & {
    identityEnvironment: 'sandbox' | 'production'
    sweepAfterMs: number
    sweepEveryMs: number
    identityRecheckOpenMs: number
    identityRecheckOpenForMs: number
    identityRecheckMs: number
    identityRecheckForMs: number
    identityRechecksPerMinute: number
  }
  bus: Bus
  database: Database
  ask: Ask
  clock: Clock
  log: Log
  poke: () => void
  onStuck: () => void
}

/** Everything about identity that runs by itself: both consumers, the sweeper, the rechecks. */
export function openIdentityDesk(options: IdentityDeskOptions) {
  const { config, bus, database, ask, clock, log, poke, onStuck } = options
  const { sweepAfterMs, sweepEveryMs, identityLevel, identityEnvironment } = config
  const provider = identityProviderOf(config, clock)
  const policy = { level: identityLevel, environment: identityEnvironment }
  const schedule = {
    openMs: config.identityRecheckOpenMs,
    openForMs: config.identityRecheckOpenForMs,
    everyMs: config.identityRecheckMs,
    forMs: config.identityRecheckForMs,
  }
  const recheck = { perMinute: config.identityRechecksPerMinute }
  const relayed = { sweepAfterMs, clock, log }
  const judging = { ...relayed, provider, policy, schedule }
  // Both consumers know every reaction: either may redrive a letter that the other one buried.
  const reactions = [...verdictReactions(judging), ...relayedReactions(relayed)]
  const consumption = {
    ...{ consumer: 'gateway', database, messaging: gatewayMessaging, reactions },
    ...{ log, poke, bus, onStuck },
  }
  const running = [
    consume({ ...consumption, stream: 'WEBHOOKS' }),
    consume({ ...consumption, stream: 'EVENTS' }),
    sweepIdentities({ ...relayed, database, ask, sweepEveryMs, poke }),
    recheckIdentities({ ...judging, database, sweepEveryMs, recheck, poke }),
  ]
  return {
    provider,
    isVerified: async (wallet: `0x${string}`) => {
      const row = await database.read((db) => findIdentity(db, wallet))
      return row?.state === 'verified'
    },
    /** Before the person has the link: whoever has one is asked about. */
    noteLink: async (wallet: `0x${string}`) => {
      const linkedAt = new Date(clock())
      const nextCheckAt = new Date(clock() + schedule.openMs)
      const link = { wallet, provider: provider.name, linkedAt, nextCheckAt }
      await database.read((db) => noteLink(db, link))
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(running.map((one) => one[Symbol.asyncDispose]()))
    },
  }
}
