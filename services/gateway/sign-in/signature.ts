import { type Hex, hashMessage, recoverAddress } from 'viem'

/** Half the order of secp256k1: above it lies the twin of a signature, which also recovers. */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const order = 2n * halfOrder + 1n

/**
 * `signed`: by this wallet's own key. `foreign`: a well-formed signature that is not; a contract
 * wallet may still accept it. `malformed`: nobody may accept it.
 */
export type SignatureVerdict = 'signed' | 'foreign' | 'malformed'

/** Recovers the signer of an EIP-191 text; `signature` is lower-case hex of at least 65 bytes. */
export async function judgeSignature(
  wallet: `0x${string}`,
  text: string,
  signature: Hex,
): Promise<SignatureVerdict> {
  if (signature.length !== 2 + 65 * 2) return 'foreign' // Longer: only a contract can read it.
  const r = BigInt(signature.slice(0, 66))
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const v = Number.parseInt(signature.slice(130), 16)
  if (![0, 1, 27, 28].includes(v)) return 'malformed'
  if (r === 0n || r >= order || s === 0n || s > halfOrder) return 'malformed'
  try {
    const signer = await recoverAddress({ hash: hashMessage(text), signature })
    return signer.toLowerCase() === wallet ? 'signed' : 'foreign'
  } catch {
    return 'foreign' // No point of the curve: no key signed this.
  }
}
