import { providerOf } from '#shared/ledger/chart'
import { type Line, type Position, position } from '#shared/ledger/position'
import { countryBy } from '#shared/money/countries'
import type { ChainMove } from './chain-move.store'
import type { ProviderMove } from './provider-move.store'

/** What is known of a move beside its log. */
export type Known = {
  /** A row of a service names it, so that service books it. */
  readonly isNamed: boolean
  /** A person said that it is capital. */
  readonly isAccepted: boolean
  /** Its row has had the time to come. */
  readonly isRipe: boolean
}

export const itemOf = ({ txHash, logIndex }: Pick<ChainMove, 'txHash' | 'logIndex'>): string =>
  `${txHash}:${logIndex}`

/** Signed amounts of one asset on two accounts: what one has more, the other has less. */
const pair = (account: Line['account'], other: Line['account'], ausdMicro: bigint): Position =>
  position([
    { account, asset: 'AUSD', amount: ausdMicro },
    { account: other, asset: 'AUSD', amount: -ausdMicro },
  ])

/**
 * What a move of the treasury comes to here: nothing when a service books it, and what went out
 * unexplained is a difference that a person must see, not a posting. Undefined: not yet.
 */
export function booksOfMove(
  move: Pick<ChainMove, 'kind' | 'wallet' | 'key' | 'ausdMicro'>,
  creditLine: string,
  { isNamed, isAccepted, isRipe }: Known,
): { event: string; lines: Position } | undefined {
  const { kind, wallet, ausdMicro } = move
  if (kind === 'mint') return { event: 'mint', lines: pair('treasury', 'capital', ausdMicro) }
  if (kind === 'burn') return { event: 'burn', lines: pair('treasury', 'capital', -ausdMicro) }
  if (kind !== 'in' && kind !== 'out') return undefined
  const signed = kind === 'in' ? ausdMicro : -ausdMicro
  if (wallet === creditLine.toLowerCase())
    return { event: 'pool of the credit line', lines: pair('treasury', 'credit_line', signed) }
  if (isNamed) return { event: 'explained', lines: [] }
  if (isAccepted) return { event: 'accepted', lines: pair('treasury', 'capital', signed) }
  if (kind === 'out' || !isRipe) return undefined
  return { event: 'unexplained', lines: pair('treasury', 'suspense', signed) }
}

/**
 * What an owner of an account at the provider put in or took out there, once a person said so: nothing
 * unless it took place. Undefined: the list does not say what it comes to.
 */
export function ownMoveOf(
  move: Pick<ProviderMove, 'account' | 'currency' | 'status' | 'amountMinor' | 'cashflow'>,
): Position | undefined {
  const account = move.account as keyof typeof providerOf
  const { currency } = countryBy('account', account)
  const { amountMinor, cashflow } = move
  if (move.status !== 'succeeded') return []
  if (move.currency !== currency || amountMinor === null || cashflow === null) return undefined
  const signed = cashflow === 'in' ? amountMinor : -amountMinor
  return position([
    { account: providerOf[account], asset: currency, amount: signed },
    { account: 'capital', asset: currency, amount: -signed },
  ])
}

/**
 * What the provider kept for a movement of money. Undefined while it does not say; nothing of another
 * currency than the account's.
 */
export function feeOf(
  move: Pick<ProviderMove, 'account' | 'currency' | 'feeMinor'>,
): Position | undefined {
  const account = move.account as keyof typeof providerOf
  const { currency } = countryBy('account', account)
  if (move.feeMinor === null) return undefined
  if (move.currency !== currency) return []
  return position([
    { account: 'fees', asset: currency, amount: move.feeMinor },
    { account: providerOf[account], asset: currency, amount: -move.feeMinor },
  ])
}
