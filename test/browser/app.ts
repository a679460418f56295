import { creditLineAbi, okOf, signTransfer } from 'ausd-credit-client'
import type { EIP1193Provider } from 'viem'
import { connect } from '../../services/gateway/guide/examples/browser'

// An app in a browser, as small as one can be: the suite next to it calls its steps in the page.

type Connected = Awaited<ReturnType<typeof connect>>

const quick = { everyMs: 200 }

const stepsOf = ({ client, wallet, account }: Connected) => ({
  me: async () => okOf(await client.me()),
  verify: async () => okOf(await client.verification()).url,
  verified: async () => {
    await client.waitUntil(({ verified, balance }) => verified && balance.native !== '0', quick)
  },
  topUp: async () => {
    const quote = okOf(await client.quote('USD/IDR'))
    return okOf(await client.topUp({ amount: '500000', method: 'qr', quoteId: quote.id }))
  },
  ended: async (id: string) => (await client.waitFor(id, quick)).status,
  draw: async (micro: string) => {
    const { creditLine, gasLimits } = okOf(await client.config()).chain
    const draw = { address: creditLine, abi: creditLineAbi, functionName: 'draw' } as const
    const args = [BigInt(micro), account.address] as const
    const gas = BigInt(gasLimits.draw)
    await wallet.writeContract({ ...draw, args, gas, account: account.address, chain: null })
    await client.waitUntil(({ balance }) => balance.ausd === micro, quick)
  },
  cashOut: async (micro: string) => {
    const { treasury, ausd } = okOf(await client.config()).chain
    const quote = okOf(await client.quote('USD/IDR', 'pay_out'))
    const authorization = await signTransfer(account, ausd.domain, { to: treasury, valueMicro: BigInt(micro) })
    const bank = { channelCode: 'ID_BCA', accountNumber: '1234567890', accountHolderName: 'Sari Dewi' }
    return okOf(await client.cashOut({ quoteId: quote.id, authorization, bank })).payoutId
  },
  send: async (micro: string, to: `0x${string}`) => {
    const { ausd } = okOf(await client.config()).chain
    const authorization = await signTransfer(account, ausd.domain, { to, valueMicro: BigInt(micro) })
    return okOf(await client.send({ authorization })).sendId
  },
})

export type Steps = ReturnType<typeof stepsOf>

const open = async (baseUrl: string, provider: EIP1193Provider) => stepsOf(await connect(baseUrl, provider))
Object.assign(globalThis, { openApp: open })
