import { okOf } from 'ausd-credit-client'
import { client } from './setup'

const me = okOf(await client.me()) // The first signed call creates the user.
console.log(`${me.wallet} is ${me.verified ? 'verified' : 'not verified yet'}`)

const { country } = okOf(await client.setCountry('ID'))
console.log(`country: ${country}`)

const { url } = okOf(await client.verification())
if (url) console.log(`verify your identity: ${url}`)
