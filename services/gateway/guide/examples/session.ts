import { signIn } from 'ausd-credit-client'
import { account } from './setup'

const tomorrow = Math.floor(Date.now() / 1000) + 86_400
console.log(await signIn(account, tomorrow))
