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
  /** Null if the provider documents no maximum. */
  readonly maxMinor: bigint | null
  readonly refunds: 'no' | 'whole' | 'partly'
  /** Null if the provider documents no refund period. */
  readonly refundDays: number | null
}

/** Row of a channel with the limits of the provider's channel table, in minor units. */
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
