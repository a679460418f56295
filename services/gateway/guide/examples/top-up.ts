import { okOf } from 'ausd-credit-client'
import { client } from './setup'

const quote = okOf(await client.quote('USD/IDR'))
console.log(`Rp ${quote.rate} per dollar, until ${quote.expiresAt}`)

// If the response is lost, the client retries with the same quote, which opens no second checkout.
const checkout = okOf(await client.topUp({ amount: '500000', method: 'qr', quoteId: quote.id }))
console.log(`pay here: ${checkout.checkoutUrl}`)
console.log(`PAYMENT_ID=${checkout.paymentId}`)

const item = await client.waitFor(checkout.paymentId, {
  onStatus: ({ status }) => console.log(`top-up: ${status}`),
})
if (item.status === 'credited') {
  const { collateral, limit } = okOf(await client.me())
  console.log(`collateral ${collateral.value}, limit ${limit}`)
}
