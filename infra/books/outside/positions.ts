import { type AccountName, type Asset, providerOf } from '#shared/ledger/chart'
import { type Position, position } from '#shared/ledger/position'
import { countryBy } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
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
const pair = (asset: Asset, account: AccountName, other: AccountName, amount: bigint): Position =>
  position([
    { account, asset, amount },
    { account: other, asset, amount: -amount },
  ])

/** The account of the books that an account at the provider is, and the currency it is kept in. */
export const accountOf = (account: ProviderAccount): { place: AccountName; asset: Fiat } => ({
  place: providerOf[account],
  asset: countryBy('account', account).currency,
})

/** What was there before the books began: it was put in by whoever runs this. */
export function openingOf(account: ProviderAccount, minor: bigint): Position {
  const { place, asset } = accountOf(account)
  return pair(asset, place, 'capital', minor)
}

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
  if (kind === 'mint')
    return { event: 'mint', lines: pair('AUSD', 'treasury', 'capital', ausdMicro) }
  if (kind === 'burn')
    return { event: 'burn', lines: pair('AUSD', 'treasury', 'capital', -ausdMicro) }
  if (kind !== 'in' && kind !== 'out') return undefined
  const signed = kind === 'in' ? ausdMicro : -ausdMicro
  if (wallet === creditLine.toLowerCase())
    return {
      event: 'pool of the credit line',
      lines: pair('AUSD', 'treasury', 'credit_line', signed),
    }
  if (isNamed) return { event: 'explained', lines: [] }
  if (isAccepted) return { event: 'accepted', lines: pair('AUSD', 'treasury', 'capital', signed) }
  if (kind === 'out' || !isRipe) return undefined
  return { event: 'unexplained', lines: pair('AUSD', 'treasury', 'suspense', signed) }
}

/**
 * What an owner of an account at the provider put in or took out there, once a person said so: nothing
 * unless it took place. Undefined: the list does not say what it comes to.
 */
export function ownMoveOf(
  move: Pick<ProviderMove, 'account' | 'currency' | 'status' | 'amountMinor' | 'cashflow'>,
): Position | undefined {
  const { place, asset } = accountOf(move.account as ProviderAccount)
  const { amountMinor, cashflow } = move
  if (move.status !== 'succeeded') return []
  if (move.currency !== asset || amountMinor === null || cashflow === null) return undefined
  return pair(asset, place, 'capital', cashflow === 'in' ? amountMinor : -amountMinor)
}

/**
 * What the provider kept for a movement of money. Undefined while it does not say; nothing of another
 * currency than the account's.
 */
export function feeOf(
  move: Pick<ProviderMove, 'account' | 'currency' | 'feeMinor'>,
): Position | undefined {
  const { place, asset } = accountOf(move.account as ProviderAccount)
  if (move.feeMinor === null) return undefined
  return move.currency === asset ? pair(asset, 'fees', place, move.feeMinor) : []
}
