import { type Address, encodeAbiParameters, type Hex, keccak256, type LocalAccount, toHex } from 'viem'
import { toAccount } from 'viem/accounts'
import { ownedWalletAbi, ownedWalletBytecode } from '#infra/contracts/artifacts.gen'
import type { RunningStack } from '#infra/local/stack'
import { newCaller } from './people'

export const deployWallet = async (stack: RunningStack, owner: Address): Promise<Address> =>
  (await newCaller(stack)).deploy(ownedWalletAbi, ownedWalletBytecode, [owner])

/** Returns the signer of a contract wallet. The key may be a wrong one; the signature is over 65 bytes, wrapped. */
export const walletSigner = (address: Address, owner: LocalAccount): LocalAccount =>
  toAccount({
    address,
    signMessage: async (message) => wrapped(await owner.signMessage(message)),
    signTypedData: async (data) => wrapped(await owner.signTypedData(data as never)),
    signTransaction: () => Promise.reject(new Error('a contract sends no transactions')),
  })

const wrapped = (signature: Hex): Hex =>
  encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes' }], [keccak256(toHex('OwnedWallet')), signature])
