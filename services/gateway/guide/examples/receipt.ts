import { writeFileSync } from 'node:fs'
import { okOf } from 'ausd-credit-client'
import { client } from './setup'

const [newest] = okOf(await client.activity({ limit: 1 })).items
if (!newest) throw new Error('there is no item yet: top up first')

const page = okOf(await client.receipt(newest.id))
writeFileSync('receipt.html', page)
console.log(`receipt of ${newest.id}: receipt.html`)
