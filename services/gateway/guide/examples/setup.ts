import { openClient } from 'ausd-credit-client'
import { privateKeyToAccount } from 'viem/accounts'

const { BASE_URL, PRIVATE_KEY } = process.env
if (!BASE_URL || !PRIVATE_KEY) throw new Error('set BASE_URL and PRIVATE_KEY')

/** The user's key. In an app it stays in their wallet: see "In a browser, in React Native". */
export const account = privateKeyToAccount(PRIVATE_KEY as `0x${string}`)

export const client = openClient({ baseUrl: BASE_URL, account })
