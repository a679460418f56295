import { idFor } from '#shared/ids'
import { DripOrdered, VerifyOrdered } from '#shared/messages/relay'

/** What the relayer names as the cause of a verified flag: one per wallet and revision. */
export const flagCause = (wallet: string, revision: bigint) => `${wallet}:${revision}`

/** Reads `wallet:revision` back; undefined when it is something else. */
export function parseFlagCause(
  cause: string,
): { wallet: `0x${string}`; revision: bigint } | undefined {
  const match = /^(0x[0-9a-f]{40}):([0-9]{1,30})$/.exec(cause)
  if (!match) return undefined
  return { wallet: match[1] as `0x${string}`, revision: BigInt(match[2]!) }
}

/**
 * One order per wallet and revision. A repeat by the sweeper is a message of its own, because the
 * broker drops an id that it saw within the last minutes: the relayer knows the cause and acts once.
 */
export const flagOrderId = (wallet: string, revision: bigint, repeat = 0) =>
  idFor('message', `${VerifyOrdered.subject}:${flagCause(wallet, revision)}${suffix(repeat)}`)

/** Once per wallet: approving the same person again orders the same message. */
export const dripOrderId = (wallet: string) => idFor('message', `${DripOrdered.subject}:${wallet}`)

/** Sweeps are counted anew after each verdict, so its revision is part of a repeat's name. */
export const dripRepeatId = (wallet: string, revision: bigint | null, repeat: number) =>
  idFor('message', `${DripOrdered.subject}:${wallet}:${revision ?? ''}${suffix(repeat)}`)

const suffix = (repeat: number) => (repeat === 0 ? '' : `:${repeat}`)
