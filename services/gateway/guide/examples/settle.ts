import { okOf } from 'ausd-credit-client'
import { client } from './setup'

const quote = okOf(await client.quote('USD/IDR'))
const answer = await client.settle({ quoteId: quote.id })

if ('refused' in answer) {
  // `code` is from a closed list that the compiler knows.
  if (answer.refused.code !== 'nothing_owed') throw new Error(answer.refused.message)
  console.log('nothing is owed')
} else {
  console.log(`pay Rp ${answer.ok.fiat} here: ${answer.ok.checkoutUrl}`)
  console.log(`PAYMENT_ID=${answer.ok.paymentId}`)
  const item = await client.waitFor(answer.ok.paymentId)
  console.log(`settlement: ${item.status}, owed now: ${okOf(await client.me()).drawn}`)
}
