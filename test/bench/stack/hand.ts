import { type Address, encodeFunctionData, type Hex, keccak256, numberToHex, toBytes } from 'viem'
import { devAccount } from '#infra/local/keys'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { rpc } from '../chain/node'

/** Actions on the chain by the bench's own verifier, without the lanes. */
export type Hand = {
  readonly blockOf: (hash: Hex) => Promise<number>
  readonly verify: (wallet: Address) => Promise<Hex>
  readonly transfer: () => Promise<Hex>
  readonly finalized: () => Promise<number>
}

/** Gas and fees, because the node's defaults do not suit a moving base fee. */
const terms = {
  gas: numberToHex(200_000),
  maxFeePerGas: numberToHex(10n ** 12n),
  maxPriorityFeePerGas: numberToHex(10n ** 9n),
}
const verifier = devAccount('bench verifier').address
const admin = devAccount('admin').address

export async function openHand({ info }: Stack): Promise<Hand> {
  const { rpcUrl } = info.chain
  const one = async (method: string, params: readonly unknown[]) => (await rpc(rpcUrl, [{ method, params }]))[0]
  const send = async (from: Address, to: string, data: Hex) =>
    (await one('eth_sendTransaction', [{ from, to, data, ...terms }])) as Hex
  const credit = (from: Address, functionName: string, args: readonly unknown[]) =>
    send(from, info.chain.creditLine, encodeFunctionData({ abi: creditLineAbi, functionName, args } as never))
  const blockOf = (hash: Hex) =>
    waitUntil(
      'a transaction to be mined',
      async () => {
        const receipt = (await one('eth_getTransactionReceipt', [hash])) as Receipt | null
        if (receipt?.status === '0x0') throw new Error('a transaction of the bench reverted')
        return receipt ? Number(receipt.blockNumber) : undefined
      },
      30_000,
      20,
    )
  for (const account of [admin, verifier]) {
    await one('anvil_impersonateAccount', [account])
    await one('anvil_setBalance', [account, numberToHex(10n ** 21n)])
  }
  await blockOf(await credit(admin, 'grantRole', [keccak256(toBytes('VERIFIER_ROLE')), verifier]))
  return {
    blockOf,
    verify: (wallet) => credit(verifier, 'setVerified', [wallet, true]),
    transfer: () => send(verifier, verifier, '0x'),
    finalized: async () => {
      const block = (await one('eth_getBlockByNumber', ['finalized', false])) as { number: Hex }
      return Number(block.number)
    },
  }
}

type Receipt = { status: Hex; blockNumber: Hex }
