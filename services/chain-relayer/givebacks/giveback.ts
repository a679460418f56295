import type { Hex } from 'viem'
import { refOf } from '#shared/chain/ref'
import type { TransferName } from '../chain/authorization'
import type { OperationState } from '../operations/operation'

// AUSD that reached the treasury and that no order of ours explains belongs to whoever sent it:
// most often somebody put the signed transfer of a cash-out on the chain before the cash-out was
// asked for, which was then refused. It goes back when an operator asks for it, once.

/** AUSD that came to the treasury, in a final block. */
export type Arrival = TransferName & {
  readonly wallet: Hex
  readonly ausdMicro: bigint
  /** Of the authorization that moved it; null: a plain transfer. */
  readonly nonce: Hex | null
}

/** The authorization nonce of a giveback: the token itself refuses a second one. */
export const givebackNonce = (name: string): Hex => refOf(`giveback:${name}`)

/**
 * An order to take AUSD by the authorization of an arrival; of a plain transfer in its transaction.
 */
export type TakeFacts = {
  readonly payoutId: string
  readonly state: OperationState
  readonly valueMicro: bigint
}

/** What our own rows, and the token, know of an arrival. */
export type Facts = {
  readonly takes: readonly TakeFacts[]
  /** A transaction that a lane of ours signed. */
  readonly isOurs: boolean
  /** The giveback of this transfer, if one was ever ordered. */
  readonly giveback: { readonly state: OperationState; readonly txHash: string | null } | undefined
  /** The token has seen the nonce of its giveback: rows that were put back may not know. */
  readonly isSpent: boolean
}

/** Why an arrival does not go back, in words for whoever asked; undefined: it is its sender's. */
export function refusalOf(
  { takes, isOurs, giveback, isSpent }: Facts,
  ausdMicro: bigint,
): string | undefined {
  if (giveback?.state === 'settled') return `it was given back in ${giveback.txHash}`
  if (giveback) return `its giveback was ordered before and is ${giveback.state}`
  if (isSpent) return 'the token says that it was given back before'
  const take = takes.find((one) => explains(one, ausdMicro))
  if (take) return `${reasons[take.state]} cash-out ${take.payoutId}`
  return isOurs ? 'a transaction of our own moved it' : undefined
}

const reasons: { readonly [S in OperationState]: string } = {
  waiting: 'it may count, the order is under way, for',
  assigned: 'it may count, the order is under way, for',
  settled: 'it was taken for',
  failed: 'it came late, and is given back by',
}

/**
 * A take that failed because its nonce moved other money explains nothing; one that failed for any
 * other reason is settled late by exactly this transfer.
 */
const explains = ({ state, valueMicro }: TakeFacts, ausdMicro: bigint): boolean =>
  state !== 'failed' || valueMicro === ausdMicro
