import type { Account } from '../account'
import type { PaymentSession } from '../records'
import { type Channel, type ChannelRow, limitBroken } from './channel'
import { indonesia } from './indonesia'
import { malaysia } from './malaysia'

const fromRow = ([code, name, type, minMinor, maxMinor, refunds, days]: ChannelRow): Channel => ({
  code,
  name,
  type,
  minMinor,
  maxMinor,
  refunds,
  refundDays: days ?? null,
})

export const channelsOf: Record<Account, readonly Channel[]> = {
  ID: indonesia.map(fromRow),
  MY: malaysia.map(fromRow),
}

export const findChannel = (account: Account, code: string): Channel | undefined =>
  channelsOf[account].find((channel) => channel.code === code)

export const allowedChannels = ({ account, allowedChannels }: PaymentSession): Channel[] =>
  channelsOf[account].filter(({ code }) => allowedChannels.length === 0 || allowedChannels.includes(code))

export const payableChannels = (session: PaymentSession): Channel[] =>
  allowedChannels(session).filter((channel) => !limitBroken(channel, session.amountMinor))
