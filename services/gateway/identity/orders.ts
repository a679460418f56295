import { type Reaction, reactTo } from '#shared/bus/reaction'
import { Malformed } from '#shared/bus/verdict'
import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { failpoint } from '#shared/failpoint'
import { messageIdFor } from '#shared/ids'
import { ChainAccount } from '#shared/messages/chain'
import { DripOrdered, relayFailed, relaySettled, VerifyOrdered } from '#shared/messages/relay'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import {
  failIdentity,
  findAwaited,
  findIdentity,
  type IdentityRow,
  lockAwaited,
  orderDrip,
  postpone,
  settleDrip,
  settleFlag,
} from './identity.store'

/** What the relayer names as the cause of a verified flag: one per wallet and revision. */
export const flagCause = (wallet: string, revision: bigint) => `${wallet}:${revision}`

/** Reads `wallet:revision` back; undefined when it is something else. */
function parseFlagCause(cause: string): { wallet: `0x${string}`; revision: bigint } | undefined {
  const match = /^(0x[0-9a-f]{40}):([0-9]{1,30})$/.exec(cause)
  if (!match) return undefined
  return { wallet: match[1] as `0x${string}`, revision: BigInt(match[2]!) }
}

/** One order per wallet and revision; the relayer knows the cause of a repeat, and acts once. */
export const flagOrderId = (wallet: string, revision: bigint, repeat = 0) =>
  messageIdFor(VerifyOrdered, flagCause(wallet, revision), repeat)

/** Once per wallet: approving the same person again orders the same message. */
export const dripOrderId = (wallet: string) => messageIdFor(DripOrdered, wallet)

/** Sweeps are counted anew after each verdict, so its revision is part of a repeat's name. */
export const dripRepeatId = (wallet: string, revision: bigint | null, repeat: number) =>
  messageIdFor(DripOrdered, `${wallet}:${revision ?? ''}`, repeat)

/** What the relayer reports about the flags and drips we ordered. */
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
      await failIdentity(tx, wallet, reason)
      context.log.error({ wallet, reason, alarm: true }, 'verified flag could not be set')
    },
  }),
  reactTo(relaySettled('drip'), {
    async apply(tx, { wallet }) {
      await settleDrip(tx, wallet)
    },
  }),
  reactTo(relayFailed('drip'), {
    async apply(tx, { wallet, reason }) {
      await failIdentity(tx, wallet, reason)
      context.log.error({ wallet, reason, alarm: true }, 'native coin could not be dripped')
    },
  }),
]

function flagOf(cause: string) {
  const flag = parseFlagCause(cause)
  if (!flag) throw new Malformed(`"${cause.slice(0, 80)}" is not the cause of a flag`)
  return flag
}

/** The chain has the flag: whoever is verified is given the coin for their own gas, once. */
async function flagSettled(
  tx: Tx,
  context: Context,
  wallet: `0x${string}`,
  revision: bigint,
): Promise<void> {
  const row = await settleFlag(tx, wallet, revision)
  if (!row) return
  context.log.info({ wallet, state: row.state }, 'verified flag settled')
  if (row.state !== 'verified') return
  if (!(await orderDrip(tx, wallet, new Date(context.clock() + context.config.sweepAfterMs))))
    return
  await announce(tx, outbox, DripOrdered, dripOrderId(wallet), { wallet })
  failpoint('gateway:drip-ordered')
}

const rowsMax = 50
/** With the doubling below, a day and a half; then a person has to look. */
const sweepsMax = 20
const postponeMsMax = 60 * 60_000

/**
 * One round over the orders that stayed quiet: what the chain already says is taken as settled, the
 * rest is ordered again. So a lost message costs seconds.
 */
export async function sweepOnce(context: Context): Promise<void> {
  const rows = await findAwaited(context.database, new Date(context.clock()), rowsMax)
  for (const row of rows) await repeatOrder(context, row)
  if (rows.length > 0) context.poke()
}

async function repeatOrder(context: Context, found: IdentityRow): Promise<void> {
  const account = await context.ask(ChainAccount, { wallet: found.wallet })
  if ('refused' in account) return
  await context.database.transaction(async (tx) => {
    // The relayer may have answered while the chain was asked.
    const row = await lockAwaited(tx, found)
    if (!row) return
    const waitMs = Math.min(postponeMsMax, context.config.sweepAfterMs * 2 ** row.sweeps)
    await postpone(tx, row.wallet, nextSweep(context, row, waitMs))
    if (row.flagSettledAt === null && row.revision !== null)
      await repeatFlag(tx, context, row, row.revision, account.ok.verified)
    else await repeatDrip(tx, row, BigInt(account.ok.balance.native))
  })
}

function nextSweep(context: Context, row: IdentityRow, waitMs: number): Date | null {
  if (row.sweeps < sweepsMax) return new Date(context.clock() + waitMs)
  context.log.error({ wallet: row.wallet, alarm: true }, 'identity order stayed without an answer')
  return null
}

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
  const order = { wallet, verified: wanted, revision: String(revision) }
  await announce(tx, outbox, VerifyOrdered, flagOrderId(wallet, revision, sweeps + 1), order)
}

/** Coin in the wallet after a repeated order: whoever sent it, there is gas. */
async function repeatDrip(tx: Tx, row: IdentityRow, nativeWei: bigint): Promise<void> {
  const { wallet, revision, sweeps } = row
  if (sweeps > 0 && nativeWei > 0n) await settleDrip(tx, wallet)
  else
    await announce(tx, outbox, DripOrdered, dripRepeatId(wallet, revision, sweeps + 1), { wallet })
}
