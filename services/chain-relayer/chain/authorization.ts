import { encodeFunctionData, type Hex, hashTypedData, recoverAddress } from 'viem'
import { type AuthorizationTerms, type TokenDomain, typedTransfer } from '#shared/chain/erc3009'
import type { Node } from './node'

/** The contracts this service speaks with. */
export type Contracts = {
  readonly ausd: Hex
  readonly creditLine: Hex
  readonly domain: TokenDomain
}

/** What the owner of an authorization signs, as one hash. */
export const transferDigest = (domain: TokenDomain, terms: AuthorizationTerms): Hex =>
  hashTypedData(typedTransfer(domain, terms))

/** Half the order of secp256k1; above it a signature is the mirror image of another one (EIP-2). */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * Whether `signer`'s own key made this signature: 65 bytes, low s, v 27 or 28, as OpenZeppelin's
 * ECDSA demands. Takes a millisecond and no call to the chain.
 */
export async function signedByKey(
  signer: string,
  digest: Hex,
  signature: string,
): Promise<boolean> {
  if (!/^0x[0-9a-f]{128}(1b|1c)$/i.test(signature)) return false
  if (BigInt(`0x${signature.slice(66, 130)}`) > halfOrder) return false
  try {
    const found = await recoverAddress({ hash: digest, signature: signature as Hex })
    return found.toLowerCase() === signer.toLowerCase()
  } catch {
    return false
  }
}

/** https://eips.ethereum.org/EIPS/eip-1271 */
const acceptedMagic = '0x1626ba7e'
const signatureAbi = [
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
    abi: signatureAbi,
    functionName: 'isValidSignature',
    args: [digest, signature],
  })
  const answer = await node.call({ to: signer, data, gas: checkGas }, 'latest')
  return 'returned' in answer && answer.returned === acceptedMagic.padEnd(66, '0')
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
