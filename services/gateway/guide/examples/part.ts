import { creditLineAbi, okOf } from 'ausd-credit-client'
import { chain, ended, fees, terms } from './chain'
import { account, client } from './setup'

const quote = okOf(await client.quote('USD/IDR'))
const checkout = okOf(await client.topUp({ amount: '20000', method: 'qr', quoteId: quote.id }))
console.log(`pay here: ${checkout.checkoutUrl}`)

const item = await client.waitFor(checkout.paymentId)
if (item.status !== 'credited') throw new Error(item.sentence)

const repay = {
  address: terms.creditLine,
  abi: creditLineAbi,
  functionName: 'repayFromCollateral',
  args: [BigInt(item.ausd)],
} as const
await chain.simulateContract({ account, ...repay })
const gas = BigInt(terms.gasLimits.repayFromCollateral)
const hash = await chain.writeContract({ account, chain: null, ...repay, gas, ...(await fees(gas)) })
const status = await ended(hash)
console.log(`part: ${status}, owed now: ${okOf(await client.me()).drawn}`)
