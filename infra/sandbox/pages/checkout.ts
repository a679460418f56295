import { currencyOf } from '../account'
import { findChannel, payableChannels } from '../channels/channels'
import type { Context } from '../context'
import { formatMoney } from '../money'
import type { PaymentSession } from '../records'
import { channelList } from './channel-list'
import { countdown } from './countdown'
import { type Html, html } from './html'
import { notice, pageLayout } from './layout'

export function checkoutPage(context: Context, session: PaymentSession, declinedCode: string | null): Response {
  switch (session.status) {
    case 'ACTIVE':
      return openPage(session, declinedCode)
    case 'COMPLETED':
      return paidPage(context, session)
    case 'EXPIRED': {
      const text = 'The time to pay has run out. Go back to the app and start again.'
      const about = { title: 'This payment has expired', sign: '!', tone: 'quiet', text } as const
      return notice(about, back(session.cancelReturnUrl))
    }
    case 'CANCELED': {
      const text = 'The merchant cancelled it. You have not been charged.'
      const about = { title: 'This payment was cancelled', sign: '–', tone: 'quiet', text } as const
      return notice(about, back(session.cancelReturnUrl))
    }
  }
}

function openPage(session: PaymentSession, declinedCode: string | null): Response {
  const amount = formatMoney(session.amountMinor, currencyOf[session.account])
  const main = html`<div class="checkout">
${summary(session, amount)}
<section class="card" aria-labelledby="how">
${declinedCode ? declined(session, declinedCode) : null}
<h2 id="how">How do you want to pay?</h2>
<form method="post" action="/checkout/${session.id}">
${channelList(session)}
${
  payableChannels(session).length > 0
    ? html`<div class="actions">
<button class="main" name="action" value="pay">Pay ${amount}</button>
<button name="action" value="decline">Decline</button></div>`
    : html`<p class="alert" role="alert">No payment method is available for this amount.</p>`
}
</form>
${
  session.cancelReturnUrl
    ? html`<p><a class="leave" href="${session.cancelReturnUrl}">Go back without paying</a></p>`
    : null
}
</section></div>`
  return pageLayout(`Pay ${amount}`, main, countdown)
}

function summary(session: PaymentSession, amount: string): Html {
  const until = session.expiresAt.slice(0, 16).replace('T', ' ')
  return html`<section class="card summary" aria-label="Payment details">
<p class="label">To pay</p>
<h1 class="amount">${amount}</h1>
<dl class="facts">
<div><dt>To</dt><dd>AUSD Credit Line</dd></div>
${session.description ? html`<div><dt>For</dt><dd>${session.description}</dd></div>` : null}
<div><dt>Reference</dt><dd class="mono">${session.referenceId}</dd></div>
<div><dt>Expires</dt><dd><time datetime="${session.expiresAt}" data-expires="${session.expiresAt}"
 role="timer">${until} UTC</time></dd></div>
</dl></section>`
}

function declined(session: PaymentSession, code: string): Html {
  const name = findChannel(session.account, code)?.name ?? code
  return html`<p class="alert" role="alert">Your ${name} payment was declined.
You have not been charged. Try again, or choose another method.</p>`
}

function paidPage({ book }: Context, session: PaymentSession): Response {
  const payment = session.paymentId ? book.get('payments', session.paymentId) : undefined
  const code = payment?.channelCode ?? ''
  const name = findChannel(session.account, code)?.name ?? code
  const amount = formatMoney(session.amountMinor, currencyOf[session.account])
  const about = {
    title: 'Paid',
    sign: '✓',
    tone: 'good',
    text: `${amount} paid with ${name}. You can close this page.`,
  } as const
  const facts = html`<dl class="facts">
<div><dt>Reference</dt><dd class="mono">${session.referenceId}</dd></div>
<div><dt>Payment</dt><dd class="mono">${session.paymentId}</dd></div></dl>`
  return notice(about, html`${facts}${back(session.successReturnUrl)}`)
}

const back = (url: string | null): Html | null =>
  url ? html`<p><a class="button main" href="${url}">Back to the app</a></p>` : null
