/** What the provider's documentation calls the kind of a channel. */
export type ChannelType =
  | 'BANK TRANSFER'
  | 'QR CODE'
  | 'CARDS'
  | 'EWALLET'
  | 'ONLINE BANKING'
  | 'ONLINE BANKING FOR COMPANIES'
  | 'OVER THE COUNTER'
  | 'PAYLATER'

/** A way to pay, with the limits of the provider's channel table. */
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

/** One row of a channel table: code, name, type, least, most, refunds, days. */
export type ChannelRow = readonly [
  string,
  string,
  ChannelType,
  bigint,
  bigint | null,
  Channel['refunds'],
  (number | null)?,
]

/** Why an amount cannot be paid by a channel, or `null` when it can. */
export function limitBroken(channel: Channel, amountMinor: bigint): 'below' | 'above' | null {
  if (amountMinor < channel.minMinor) return 'below'
  if (channel.maxMinor !== null && amountMinor > channel.maxMinor) return 'above'
  return null
}
