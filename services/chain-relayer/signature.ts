import { encodeFunctionData, type Hex } from 'viem'
import { signedByKey } from './authorization'
import type { Node } from './node'

/** https://eips.ethereum.org/EIPS/eip-1271 */
const magic = '0x1626ba7e'
const abi = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ name: 'magicValue', type: 'bytes4' }],
  },
] as const

/** More than a contract wallet needs, less than would keep an endpoint busy. */
const checkGas = 1_000_000n

/** Whether the contract at `signer` accepts the signature. No code there: false. */
export async function acceptedByContract(
  node: Node,
  signer: Hex,
  digest: Hex,
  signature: Hex,
): Promise<boolean> {
  const code = await node.reader.getCode({ address: signer })
  if (!code || code === '0x') return false
  const data = encodeFunctionData({
    abi,
    functionName: 'isValidSignature',
    args: [digest, signature],
  })
  const answer = await node.call({ to: signer, data, gas: checkGas }, 'latest')
  return 'returned' in answer && answer.returned === magic.padEnd(66, '0')
}

/** As the token checks it: the key's own signature first, then the contract, if there is one. */
export async function isSignedBy(
  node: Node,
  signer: Hex,
  digest: Hex,
  signature: Hex,
): Promise<boolean> {
  if (await signedByKey(signer, digest, signature)) return true
  return acceptedByContract(node, signer, digest, signature)
}
