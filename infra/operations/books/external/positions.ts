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
  /** Old enough that its row would exist. */
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
 * Returns an empty position if a service books the movement, undefined if nothing is booked yet.
 * Unexplained outgoing transfers are never booked, so that they stay a break.
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
 * Returns an empty position if the accepted move did not take place, undefined if the list has no
 * exact amount.
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
 * Returns undefined while the fee is not reported, an empty position if it is not in the account's
 * currency.
 */
export function feeOf(move: Pick<ProviderMove, 'account' | 'currency' | 'feeMinor'>): Position | undefined {
  const { place, asset } = accountOf(move.account as ProviderAccount)
  if (move.feeMinor === null) return undefined
  return move.currency === asset ? pair(asset, 'fees', place, move.feeMinor) : []
}
