import type { Ask } from '#shared/bus/ask'
import type { Database, Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { pause } from '#shared/deadline'
import { ChainAccount } from '#shared/messages/chain'
import { DripOrdered, VerifyOrdered } from '#shared/messages/relay'
import { outbox } from '../schema.store.ts'
import { findAwaited, type IdentityRow, postpone, settleDrip } from './identity.store.ts'
import { dripRepeatId, flagOrderId } from './orders.ts'
import { flagSettled, type RelayedParts } from './relayed.reactions.ts'

const rowsMax = 50
/** With the doubling below, a day and a half; then a person has to look. */
const sweepsMax = 20
const postponeMsMax = 60 * 60_000

/** `poke` tells the outbox that something is to be sent again. */
export type SweepParts = RelayedParts & {
  database: Database
  ask: Ask
  sweepEveryMs: number
  poke: () => void
}

/**
 * Looks after orders that stayed quiet: what the chain already says is taken as settled, the rest
 * is ordered again. So a lost message costs seconds.
 */
export function sweepIdentities(parts: SweepParts): AsyncDisposable {
  const stop = new AbortController()
  const loop = async () => {
    while (!stop.signal.aborted) {
      await pause(parts.sweepEveryMs, stop.signal)
      if (stop.signal.aborted) return
      await sweepOnce(parts).catch((error) =>
        parts.log.warn({ err: error }, 'identities could not be swept'),
      )
    }
  }
  const ended = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}

/** One round; exported for the suite, which does not wait for the clock. */
export async function sweepOnce(parts: SweepParts): Promise<void> {
  const rows = await findAwaited(parts.database, new Date(parts.clock()), rowsMax)
  for (const row of rows) await takeUp(parts, row)
  if (rows.length > 0) parts.poke()
}

async function takeUp(parts: SweepParts, row: IdentityRow): Promise<void> {
  const account = await parts.ask(ChainAccount, { wallet: row.wallet })
  if ('refused' in account) return
  const waitMs = Math.min(postponeMsMax, parts.sweepAfterMs * 2 ** row.sweeps)
  await parts.database.transaction(async (tx) => {
    await postpone(tx, row.wallet, nextSweep(parts, row, waitMs))
    if (row.flagSettledAt === null && row.revision !== null)
      await takeUpFlag(tx, parts, row, row.revision, account.ok.verified)
    else await takeUpDrip(tx, row, BigInt(account.ok.balance.native))
  })
}

function nextSweep(parts: SweepParts, row: IdentityRow, waitMs: number): Date | null {
  if (row.sweeps < sweepsMax) return new Date(parts.clock() + waitMs)
  parts.log.error({ wallet: row.wallet, alarm: true }, 'identity order stayed without an answer')
  return null
}

async function takeUpFlag(
  tx: Tx,
  parts: SweepParts,
  row: IdentityRow,
  revision: bigint,
  verified: boolean,
): Promise<void> {
  const { wallet, sweeps } = row
  const wanted = row.state === 'verified'
  if (verified === wanted) return flagSettled(tx, parts, wallet, revision)
  const order = { wallet, verified: wanted, revision: String(revision) }
  await announce(tx, outbox, VerifyOrdered, flagOrderId(wallet, revision, sweeps + 1), order)
}

/** Coin in the wallet after a repeated order: whoever sent it, there is gas. */
async function takeUpDrip(tx: Tx, row: IdentityRow, nativeWei: bigint): Promise<void> {
  const { wallet, revision, sweeps } = row
  if (sweeps > 0 && nativeWei > 0n) await settleDrip(tx, wallet)
  else
    await announce(tx, outbox, DripOrdered, dripRepeatId(wallet, revision, sweeps + 1), { wallet })
}
