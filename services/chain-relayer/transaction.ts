import { gasLimits } from '#shared/chain/gas'

/** `op` bears one operation, `batch` several through `many`, `noop` none. */
export type TransactionPurpose = 'op' | 'batch' | 'noop'
/** At finality: it did its work, it did nothing, or a noop took its nonce. */
export type TransactionOutcome = 'ok' | 'reverted' | 'noop'

/** What a transaction does, apart from who sends it and at what fee. */
export type Call = {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  readonly valueWei: bigint
  readonly gas: bigint
}

/** Gives a nonce away: nothing, to oneself. */
export const noopCall = (lane: `0x${string}`): Call => ({
  to: lane,
  data: '0x',
  valueWei: 0n,
  gas: gasLimits.nativeTransfer,
})
