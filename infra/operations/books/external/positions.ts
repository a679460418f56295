import { type AccountName, type Asset, providerOf } from '#shared/ledger/chart'
import { type Position, position } from '#shared/ledger/position'
import { countryBy } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import type { ChainMove } from './chain-move.store'
import type { ProviderMove } from './provider-move.store'

export type MoveFacts = {
  readonly isNamed: boolean
  readonly isAccepted: boolean
  /** True if the movement is so old that a row explaining it would exist by now. */
  readonly isRipe: boolean
}

export const itemOf = ({ txHash, logIndex }: Pick<ChainMove, 'txHash' | 'logIndex'>): string => `${txHash}:${logIndex}`

const pair = (asset: Asset, account: AccountName, other: AccountName, amount: bigint): Position =>
  position([
    { account, asset, amount },
    { account: other, asset, amount: -amount },
  ])

export const accountOf = (account: ProviderAccount): { place: AccountName; asset: Fiat } => ({
  place: providerOf[account],
  asset: countryBy('account', account).currency,
})

export function openingOf(account: ProviderAccount, minor: bigint): Position {
  const { place, asset } = accountOf(account)
  return pair(asset, place, 'capital', minor)
}

/**
 * Returns where a movement's AUSD is booked. The position is empty if a service books the movement, and undefined if
 * nothing is booked yet. Unexplained outgoing transfers are never booked, so that they stay a break.
 */
export function positionOfMove(
  move: Pick<ChainMove, 'kind' | 'wallet' | 'key' | 'ausdMicro'>,
  creditLine: string,
  { isNamed, isAccepted, isRipe }: MoveFacts,
): { event: string; lines: Position } | undefined {
  const { kind, wallet, ausdMicro } = move
  if (kind === 'mint') return { event: 'mint', lines: pair('AUSD', 'treasury', 'capital', ausdMicro) }
  if (kind === 'burn') return { event: 'burn', lines: pair('AUSD', 'treasury', 'capital', -ausdMicro) }
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
 * Returns the position of a row of the provider's list that was accepted as capital. Money that a service holds in
 * suspense, `heldMinor`, is already booked at the provider, so it only leaves suspense. The position is empty if the
 * movement did not take place, and undefined if the list has no exact amount.
 */
export function ownMoveOf(
  move: Pick<ProviderMove, 'account' | 'currency' | 'status' | 'amountMinor' | 'cashflow'>,
  heldMinor?: bigint,
): Position | undefined {
  const { place, asset } = accountOf(move.account as ProviderAccount)
  const { amountMinor, cashflow } = move
  if (move.status !== 'succeeded') return []
  if (heldMinor !== undefined) return pair(asset, 'suspense', 'capital', heldMinor)
  if (move.currency !== asset || amountMinor === null || cashflow === null) return undefined
  return pair(asset, place, 'capital', cashflow === 'in' ? amountMinor : -amountMinor)
}

/**
 * Returns the position of a provider fee. It is undefined while the fee is not reported, and empty if the fee is not in
 * the account's currency.
 */
export function feeOf(move: Pick<ProviderMove, 'account' | 'currency' | 'feeMinor'>): Position | undefined {
  const { place, asset } = accountOf(move.account as ProviderAccount)
  if (move.feeMinor === null) return undefined
  return move.currency === asset ? pair(asset, 'fees', place, move.feeMinor) : []
}
