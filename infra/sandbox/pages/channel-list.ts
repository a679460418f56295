import { currencyOf } from '../account'
import { type Channel, type ChannelType, limitBroken } from '../channels/channel'
import { allowedChannels, payableChannels } from '../channels/channels'
import { formatMoney } from '../money'
import type { PaymentSession } from '../records'
import { type Html, html } from './html'

const titles: Record<ChannelType, string> = {
  'BANK TRANSFER': 'Bank transfer',
  'QR CODE': 'QR code',
  CARDS: 'Card',
  EWALLET: 'E-wallet',
  'ONLINE BANKING': 'Online banking',
  'ONLINE BANKING FOR COMPANIES': 'Online banking for companies',
  'OVER THE COUNTER': 'Over the counter',
  PAYLATER: 'Pay later',
}

export function channelList(session: PaymentSession): Html {
  const channels = allowedChannels(session)
  const chosen = payableChannels(session)[0]?.code
  const groups = Map.groupBy(channels, ({ type }) => type)
  return html`${[...groups].map(([type, members]) => {
    const options = html`<div class="options">${members.map((channel) =>
      option(session, channel, channel.code === chosen),
    )}</div>`
    return type === 'ONLINE BANKING FOR COMPANIES'
      ? html`<details><summary>${titles[type]}</summary><fieldset
          aria-label="${titles[type]}">${options}</fieldset></details>`
      : html`<fieldset><legend>${titles[type]}</legend>${options}</fieldset>`
  })}`
}

function option(session: PaymentSession, channel: Channel, chosen: boolean): Html {
  const reason = reasonAgainst(session, channel)
  return html`<label class="option${reason ? ' off' : ''}">
<input type="radio" name="channel_code" value="${channel.code}" required
 ${chosen ? html`checked` : null} ${reason ? html`disabled` : null}>
<span>${channel.name}${reason ? html`<small>${reason}</small>` : null}</span></label>`
}

function reasonAgainst({ account, amountMinor }: PaymentSession, channel: Channel): string | null {
  const currency = currencyOf[account]
  switch (limitBroken(channel, amountMinor)) {
    case 'below':
      return `From ${formatMoney(channel.minMinor, currency)}`
    case 'above':
      return `Up to ${formatMoney(channel.maxMinor ?? 0n, currency)}`
    default:
      return null
  }
}
