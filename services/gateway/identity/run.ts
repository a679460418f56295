import { consume } from '#platform/bus/consume'
import type { Bus } from '#platform/bus/open'
import { startLoop } from '#platform/loop'
import type { Context } from '../context'
import { autoRepayReactions } from '../reminders/auto-repay'
import { gatewayMessaging } from '../schema.store'
import { findIdentity } from './identity.store'
import { countLinksToday, insertLink } from './link.store'
import { orderReactions, sweepOnce } from './orders'
import { recheckOnce } from './recheck'
import { recordLink } from './recheck.store'
import { verdictReaction } from './verdict'

export function runIdentity(context: Context, bus: Bus, onFatal: () => void): AsyncDisposable {
  const { config, database, log, poke } = context
  const consumption = {
    bus,
    consumer: 'gateway',
    database,
    messaging: gatewayMessaging,
    log,
    poke,
    onFatal,
    reactions: [verdictReaction(context), ...orderReactions(context), ...autoRepayReactions(context)],
  }
  const loop = { everyMs: config.recheckEveryMs, log }
  const running = [
    consume(consumption),
    startLoop({
      ...loop,
      name: 'identity sweeps',
      work: (signal) => sweepOnce(context, signal),
    }),
    startLoop({
      ...loop,
      name: 'identity rechecks',
      work: (signal) => recheckOnce(context, signal),
    }),
  ]
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(running.map((one) => one[Symbol.asyncDispose]()))
    },
  }
}

export const openVerification = ({
  config,
  clock,
  database,
  provider,
}: Pick<Context, 'config' | 'clock' | 'database' | 'provider'>): Context['verification'] => ({
  async standing(wallet) {
    const [row, linksToday] = await Promise.all([
      database.read((db) => findIdentity(db, wallet)),
      database.read((db) => countLinksToday(db, wallet)),
    ])
    return { isVerified: row?.state === 'verified', linksToday }
  },
  async recordLink(wallet, providerRef) {
    const linkedAt = new Date(clock())
    const nextCheckAt = new Date(clock() + config.identityRecheckOpenMs)
    const asked = { wallet, provider: provider.name }
    await database.transaction(async (tx) => {
      await insertLink(tx, { ...asked, providerRef })
      await recordLink(tx, { ...asked, linkedAt, nextCheckAt })
    })
  },
})
