import { okOf, signTransfer } from 'ausd-credit-client'
import { domain } from './chain'
import { account, client } from './setup'

const to = '0x1111111111111111111111111111111111111111'
const authorization = await signTransfer(account, domain, { to, valueMicro: 500_000n })

const send = okOf(await client.send({ authorization }))
const item = await client.waitFor(send.sendId)
console.log(`send: ${item.status}, ${item.txHash ?? item.sentence}`)
