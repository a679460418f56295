import { fromWallet, openClient } from 'ausd-credit-client'
import { createWalletClient, custom, type EIP1193Provider } from 'viem'

/** Keeps the session over page loads of this tab. */
const session = {
  load: () => sessionStorage.getItem('session'),
  save: (header: string | null) => {
    if (header) sessionStorage.setItem('session', header)
    else sessionStorage.removeItem('session')
  },
}

/** Connects the wallet that the browser has, and opens the client with it. */
export async function connect(baseUrl: string, provider: EIP1193Provider) {
  const wallet = createWalletClient({ transport: custom(provider) })
  const [address] = await wallet.requestAddresses()
  const account = fromWallet(wallet, address)
  return { wallet, account, client: openClient({ baseUrl, account, session }) }
}
