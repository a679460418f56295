import {
  type Address,
  createWalletClient,
  encodeAbiParameters,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  publicActions,
  toHex,
} from 'viem'
import { privateKeyToAccount, toAccount } from 'viem/accounts'
import { ownedWalletAbi, ownedWalletBytecode } from '#infra/contracts/artifacts.gen'
import { bid } from '#infra/local/fees'
import { devKey } from '#infra/local/keys'
import type { RunningStack } from '#infra/local/stack'
import { chainOf } from '#shared/chain/client'
import { waitUntil } from './wait'

/**
 * Deploys contract wallets, each owned by a key, and makes their wrapped signatures (over 65
 * bytes).
 */
export function openContractWallets({ info }: RunningStack) {
  const { rpcUrl, chainId } = info.chain
  const account = privateKeyToAccount(devKey('admin'))
  const chain = createWalletClient({ account, chain: chainOf(chainId), transport: http(rpcUrl) })
  const reader = chain.extend(publicActions)
  return {
    /** Deploys a wallet for an owner; returns its address. */
    deploy: async (owner: Address): Promise<Address> => {
      const hash = await chain.deployContract({
        abi: ownedWalletAbi,
        bytecode: ownedWalletBytecode,
        args: [owner],
        gas: 1_000_000n,
        ...(await bid(reader)),
      })
      const { contractAddress } = await waitUntil('the wallet being deployed', () =>
        reader.getTransactionReceipt({ hash }).catch(() => undefined),
      )
      return contractAddress!
    },
    /** Signs for a wallet with its owner's key or with a wrong one. */
    signerOf: (address: Address, owner: LocalAccount): LocalAccount =>
      toAccount({
        address,
        signMessage: async (message) => wrapped(await owner.signMessage(message)),
        signTypedData: async (data) => wrapped(await owner.signTypedData(data as never)),
        signTransaction: () => Promise.reject(new Error('a contract sends no transactions')),
      }),
  }
}

const wrapped = (signature: Hex): Hex =>
  encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'bytes' }],
    [keccak256(toHex('OwnedWallet')), signature],
  )
