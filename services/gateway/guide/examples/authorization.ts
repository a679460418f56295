import { signTransfer } from 'ausd-credit-client'
import { domain } from './chain'
import { account } from './setup'

const [to, value = '0'] = process.argv.slice(2)
const terms = { to: to as `0x${string}`, valueMicro: BigInt(value) }
console.log(JSON.stringify(await signTransfer(account, domain, terms)))
