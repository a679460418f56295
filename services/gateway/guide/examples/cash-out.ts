import { okOf, signTransfer } from 'ausd-credit-client'
import { domain, terms } from './chain'
import { account, client } from './setup'

const quote = okOf(await client.quote('USD/IDR', 'pay_out'))
const authorization = await signTransfer(account, domain, {
  to: terms.treasury,
  valueMicro: 1_000_000n,
})
const bank = { channelCode: 'ID_BCA', accountNumber: '1234567890', accountHolderName: 'Sari Dewi' }

const order = okOf(await client.cashOut({ quoteId: quote.id, authorization, bank }))
console.log(`Rp ${order.fiat} on the way to the bank`)

const item = await client.waitFor(order.payoutId, {
  onStatus: ({ status }) => console.log(`cash-out: ${status}`),
})
if (item.status !== 'paid') console.log(item.sentence) // It says why, and where the AUSD is.
