import { type Reaction, reactTo } from '#shared/bus/reaction'
import { Malformed } from '#shared/bus/verdict'
import type { Clock } from '#shared/clock'
import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { failpoint } from '#shared/failpoint'
import type { Log } from '#shared/log'
import { DripOrdered, relayFailed, relaySettled } from '#shared/messages/relay'
import { outbox } from '../schema.store.ts'
import { failIdentity, findIdentity, orderDrip, settleDrip, settleFlag } from './identity.store.ts'
import { dripOrderId, parseFlagCause } from './orders.ts'

/** What following up an order needs. */
export type RelayedParts = { sweepAfterMs: number; clock: Clock; log: Log }

/** What the relayer reports about the flags and drips we ordered. */
export const relayedReactions = (parts: RelayedParts): readonly Reaction[] => [
  reactTo(relaySettled('verify'), {
    async apply(tx, { cause }) {
      const { wallet, revision } = flagOf(cause)
      await flagSettled(tx, parts, wallet, revision)
    },
  }),
  reactTo(relayFailed('verify'), {
    async apply(tx, { cause, reason }) {
      const { wallet, revision } = flagOf(cause)
      const row = await findIdentity(tx, wallet)
      if (row?.revision !== revision || row.flagSettledAt) return
      await failIdentity(tx, wallet, reason)
      parts.log.error({ wallet, reason, alarm: true }, 'verified flag could not be set')
    },
  }),
  reactTo(relaySettled('drip'), {
    async apply(tx, { wallet }) {
      await settleDrip(tx, wallet.toLowerCase() as `0x${string}`)
    },
  }),
  reactTo(relayFailed('drip'), {
    async apply(tx, { wallet, reason }) {
      await failIdentity(tx, wallet.toLowerCase() as `0x${string}`, reason)
      parts.log.error({ wallet, reason, alarm: true }, 'native coin could not be dripped')
    },
  }),
]

function flagOf(cause: string) {
  const flag = parseFlagCause(cause)
  if (!flag) throw new Malformed(`"${cause.slice(0, 80)}" is not the cause of a flag`)
  return flag
}

/** The chain has the flag: whoever is verified is given the coin for their own gas, once. */
export async function flagSettled(
  tx: Tx,
  parts: RelayedParts,
  wallet: `0x${string}`,
  revision: bigint,
): Promise<void> {
  const row = await settleFlag(tx, wallet, revision)
  if (!row) return
  parts.log.info({ wallet, state: row.state }, 'verified flag settled')
  if (row.state !== 'verified') return
  if (!(await orderDrip(tx, wallet, new Date(parts.clock() + parts.sweepAfterMs)))) return
  await announce(tx, outbox, DripOrdered, dripOrderId(wallet), { wallet })
  failpoint('gateway:drip-ordered')
}
