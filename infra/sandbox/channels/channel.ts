/** Channel types as named in the provider's documentation. */
export type ChannelType =
  | 'BANK TRANSFER'
  | 'QR CODE'
  | 'CARDS'
  | 'EWALLET'
  | 'ONLINE BANKING'
  | 'ONLINE BANKING FOR COMPANIES'
  | 'OVER THE COUNTER'
  | 'PAYLATER'

/** Payment channel with the limits of the provider's channel table. */
export type Channel = {
  readonly code: string
  readonly name: string
  readonly type: ChannelType
  readonly minMinor: bigint
  /** `null`: no maximum is documented. */
  readonly maxMinor: bigint | null
  readonly refunds: 'no' | 'whole' | 'partly'
  /** `null`: no window is documented. */
  readonly refundDays: number | null
}

/** Row of a channel table: code, name, type, minimum, maximum, refunds, days. */
export type ChannelRow = readonly [
  string,
  string,
  ChannelType,
  bigint,
  bigint | null,
  Channel['refunds'],
  (number | null)?,
]

/** Returns the limit that an amount breaks, or `null` if it is within the limits. */
export function limitBroken(channel: Channel, amountMinor: bigint): 'below' | 'above' | null {
  if (amountMinor < channel.minMinor) return 'below'
  if (channel.maxMinor !== null && amountMinor > channel.maxMinor) return 'above'
  return null
}
