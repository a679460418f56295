export type ChannelType =
  | 'BANK TRANSFER'
  | 'QR CODE'
  | 'CARDS'
  | 'EWALLET'
  | 'ONLINE BANKING'
  | 'ONLINE BANKING FOR COMPANIES'
  | 'OVER THE COUNTER'
  | 'PAYLATER'

export type Channel = {
  readonly code: string
  readonly name: string
  readonly type: ChannelType
  readonly minMinor: bigint
  /** Null: none is documented. */
  readonly maxMinor: bigint | null
  readonly refunds: 'no' | 'whole' | 'partly'
  /** Null: none is documented. */
  readonly refundDays: number | null
}

/** With limits of the provider's channel table, in minor units. */
export type ChannelRow = readonly [
  string,
  string,
  ChannelType,
  bigint,
  bigint | null,
  Channel['refunds'],
  (number | null)?,
]

export function limitBroken(channel: Channel, amountMinor: bigint): 'below' | 'above' | null {
  if (amountMinor < channel.minMinor) return 'below'
  if (channel.maxMinor !== null && amountMinor > channel.maxMinor) return 'above'
  return null
}
