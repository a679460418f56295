import type { Hex } from 'viem'
import { refOf } from '#shared/chain/ref'
import type { TransferName } from '../chain/authorization'
import type { OperationState } from '../operations/operation'

// AUSD that reached the treasury without an order belongs to its sender. Usually the transfer of a cash-out was
// submitted before the cash-out was requested, which was then refused. An operator requests its return.

export type Arrival = TransferName & {
  readonly wallet: Hex
  readonly ausdMicro: bigint
  /** Nonce of the authorization; null for a plain transfer. */
  readonly nonce: Hex | null
}

export const givebackNonce = (name: string): Hex => refOf(`giveback:${name}`)

/** A take with the authorization of an arrival or, for a plain transfer, with its transaction. */
export type TakeFacts = {
  readonly payoutId: string
  readonly state: OperationState
  readonly valueMicro: bigint
}

export type ArrivalFacts = {
  readonly takes: readonly TakeFacts[]
  readonly isOurs: boolean
  readonly giveback: { readonly state: OperationState; readonly txHash: string | null } | undefined
  /** True if the token shows the return as made; rows restored from a backup may lack the giveback. */
  readonly isUsed: boolean
}

export function refusalOf({ takes, isOurs, giveback, isUsed }: ArrivalFacts, ausdMicro: bigint): string | undefined {
  if (giveback?.state === 'settled') return `it was already given back in ${giveback.txHash}`
  if (giveback) return `its giveback was already ordered and is ${giveback.state}`
  // guard: AUSD that the token shows as returned is not returned again
  if (isUsed) return 'it was already given back according to the token'
  const take = takes.find((one) => explains(one, ausdMicro))
  // guard: AUSD taken by a cash-out is not also returned
  if (take) return `${reasons[take.state]} cash-out ${take.payoutId}`
  return isOurs ? 'it was moved by one of our own transactions' : undefined
}

const reasons: { readonly [S in OperationState]: string } = {
  waiting: 'it may still be taken for',
  assigned: 'it may still be taken for',
  settled: 'it was taken for',
  failed: 'it arrived late and is returned by',
}

/**
 * Returns true if the take accounts for the AUSD. A transfer of exactly its amount settles a failed take late; another
 * amount does not.
 */
const explains = ({ state, valueMicro }: TakeFacts, ausdMicro: bigint): boolean =>
  state !== 'failed' || valueMicro === ausdMicro
