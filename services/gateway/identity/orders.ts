import { backoffMs } from '#platform/backoff'
import { type Reaction, reactTo } from '#platform/bus/reaction'
import { Malformed } from '#platform/bus/verdict'
import type { Tx } from '#platform/db/open'
import { announce } from '#platform/db/outbox.store'
import { failpoint } from '#platform/failpoint'
import { messageIdFor } from '#shared/ids'
import { ChainAccount } from '#shared/messages/chain'
import { DripOrdered, relayFailed, relaySettled, VerifyOrdered } from '#shared/messages/relay'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { outbox } from '../schema.store'
import {
  failDrip,
  failFlag,
  findAwaited,
  findIdentity,
  type IdentityRow,
  lockAwaited,
  orderDrip,
  postpone,
  postponeUncounted,
  settleDrip,
  settleFlag,
} from './identity.store'

/** Returns the cause of a flag order, which the relayer repeats in its report. */
export const flagCause = (wallet: string, revision: bigint) => `${wallet}:${revision}`

function parseFlagCause(cause: string): { wallet: `0x${string}`; revision: bigint } | undefined {
  const match = /^(0x[0-9a-f]{40}):([0-9]{1,30})$/.exec(cause)
  if (!match) return undefined
  return { wallet: match[1] as `0x${string}`, revision: BigInt(match[2]!) }
}

/** Returns the message id of a flag order. The relayer acts once per cause. */
export const flagOrderId = (wallet: string, revision: bigint, repeat = 0) =>
  messageIdFor(VerifyOrdered, flagCause(wallet, revision), repeat)

/** Returns the message id of the drip. There is one per wallet, so a second approval repeats the same message. */
// guard: a wallet gets its native coin once
export const dripOrderId = (wallet: string) => messageIdFor(DripOrdered, wallet)

/**
 * Returns the message id of a repeated drip. It contains the revision, because each verdict resets the sweep
 * count.
 */
export const dripRepeatId = (wallet: string, revision: bigint | null, repeat: number) =>
  messageIdFor(DripOrdered, `${wallet}:${revision ?? ''}`, repeat)

export const orderReactions = (context: Context): readonly Reaction[] => [
  reactTo(relaySettled('verify'), {
    async apply(tx, { cause }) {
      const { wallet, revision } = flagOf(cause)
      await flagSettled(tx, context, wallet, revision)
    },
  }),
  reactTo(relayFailed('verify'), {
    async apply(tx, { cause, reason }) {
      const { wallet, revision } = flagOf(cause)
      const row = await findIdentity(tx, wallet)
      if (row?.revision !== revision || row.flagSettledAt) return
      await failFlag(tx, wallet, reason, nextSweepAt(context))
      context.log.alarm({ wallet, reason }, 'verified flag not set on chain')
    },
  }),
  reactTo(relaySettled('drip'), {
    async apply(tx, { cause, wallet }) {
      if (cause === wallet) await settleDrip(tx, wallet)
    },
  }),
  reactTo(relayFailed('drip'), {
    async apply(tx, { cause, wallet, reason }) {
      if (cause !== wallet) return context.log.warn({ cause, reason }, 'refill of native coin failed')
      if (!(await failDrip(tx, wallet, reason))) return
      context.log.alarm({ wallet, reason }, 'native coin drip failed')
    },
  }),
]

function flagOf(cause: string) {
  const flag = parseFlagCause(cause)
  if (!flag) throw new Malformed(`"${cause.slice(0, 80)}" is not the cause of a flag`)
  return flag
}

async function flagSettled(tx: Tx, context: Context, wallet: `0x${string}`, revision: bigint): Promise<void> {
  const checkAt = nextSweepAt(context)
  const row = await settleFlag(tx, wallet, revision, checkAt)
  if (!row) return
  context.log.info({ wallet, state: row.state }, 'verified flag settled')
  if (row.state !== 'verified') return
  if (!(await orderDrip(tx, wallet, checkAt))) return
  announce(tx, outbox, DripOrdered, dripOrderId(wallet), { wallet })
  failpoint('gateway:drip-ordered')
}

const nextSweepAt = ({ clock, config }: Context) => new Date(clock() + config.recheckAfterMs)

const rowsMax = 50
/** Maximum number of sweeps; with doubling intervals about 14 hours by default. */
const sweepsMax = 20
const postponeMsMax = 60 * 60_000

/**
 * Settles unanswered orders that are on the chain and repeats the others. It throws the first error after the
 * last row, so that one wallet does not stop the others.
 */
export async function sweepOnce(context: Context, signal?: AbortSignal): Promise<void> {
  const { database, config, clock } = context
  const longestMs = Math.max(postponeMsMax, config.recheckAfterMs)
  const rows = await findAwaited(database, new Date(clock()), longestMs, rowsMax)
  const failures: unknown[] = []
  for (const row of rows) {
    if (signal?.aborted) break
    try {
      await repeatOrder(context, row)
    } catch (error) {
      failures.push(error)
      await context.database.run((db) => postponeUncounted(db, row, nextSweepAt(context)))
    }
  }
  if (rows.length > 0) context.poke()
  if (failures.length > 0) throw failures[0]
}

async function repeatOrder(context: Context, found: IdentityRow): Promise<void> {
  const { verified, balance } = okOf(await context.ask(ChainAccount, { wallet: found.wallet }))
  await context.database.transaction(async (tx) => {
    // The relayer may have reported during the chain read.
    const row = await lockAwaited(tx, found)
    if (!row) return
    const waitMs = backoffMs({ firstMs: context.config.recheckAfterMs, maxMs: postponeMsMax }, row.sweeps)
    const checkAt = row.sweeps < sweepsMax ? new Date(context.clock() + waitMs) : null
    await postpone(tx, row.wallet, checkAt)
    if (row.flagSettledAt === null && row.flagFailedAt === null && row.revision !== null)
      await repeatFlag(tx, context, row, row.revision, verified)
    else await repeatDrip(tx, context, row, BigInt(balance.native))
  })
}

const giveUp = (context: Context, wallet: string) =>
  context.log.alarm({ wallet }, 'identity order unanswered, giving up')

async function repeatFlag(
  tx: Tx,
  context: Context,
  row: IdentityRow,
  revision: bigint,
  verified: boolean,
): Promise<void> {
  const { wallet, sweeps } = row
  const wanted = row.state === 'verified'
  if (verified === wanted) return flagSettled(tx, context, wallet, revision)
  if (sweeps >= sweepsMax) {
    await failFlag(tx, wallet, 'unanswered', nextSweepAt(context))
    return giveUp(context, wallet)
  }
  const order = { wallet, verified: wanted, revision: String(revision) }
  announce(tx, outbox, VerifyOrdered, flagOrderId(wallet, revision, sweeps + 1), order)
}

/** Repeats the drip. After a repeated order, any coin in the wallet settles it, whoever sent the coin. */
async function repeatDrip(tx: Tx, context: Context, row: IdentityRow, nativeWei: bigint): Promise<void> {
  const { wallet, revision, sweeps } = row
  if (sweeps > 0 && nativeWei > 0n) await settleDrip(tx, wallet)
  else if (sweeps >= sweepsMax) giveUp(context, wallet)
  else announce(tx, outbox, DripOrdered, dripRepeatId(wallet, revision, sweeps + 1), { wallet })
}
