import type { Static } from 'typebox'
import { type Hex, parseErc6492Signature } from 'viem'
import type { SignedTransfer } from '#shared/chain/erc3009'
import type { Authorization } from '#shared/messages/fields'

/** An authorization as received: hex may be of any case, and numbers may have leading zeros. */
export type GivenAuthorization = Static<typeof Authorization>

const lower = (hex: string) => hex.toLowerCase() as Hex
const digits = (text: string) => BigInt(text).toString()

/**
 * Returns the signature of a deployed wallet without its ERC-6492 wrapper, which some apps add although it is for
 * wallets to be deployed. The code to deploy the wallet is never run. https://eips.ethereum.org/EIPS/eip-6492
 */
export function unwrapped(signature: Hex): Hex {
  try {
    return parseErc6492Signature(signature).signature
  } catch {
    return signature // The signature only ends like a wrapper.
  }
}

const parityBit = 1n << 255n

/**
 * Returns a signature of a key as 65 bytes with a v of 27 or 28, which every version of the token takes. Ledger and MPC
 * wallets sign with 0 or 1, and some libraries write 64 bytes, whose v is the highest bit of s
 * (https://eips.ethereum.org/EIPS/eip-2098). A contract's signature must not be changed, because its bytes mean
 * something else.
 */
export function withTokenV(signature: Hex): Hex {
  if (/^0x[0-9a-f]{128}0[01]$/i.test(signature))
    return `${signature.slice(0, 130) as Hex}${signature.endsWith('0') ? '1b' : '1c'}`
  if (!/^0x[0-9a-f]{128}$/i.test(signature)) return signature
  const last = BigInt(`0x${signature.slice(66)}`)
  const s = (last % parityBit).toString(16).padStart(64, '0')
  return `${signature.slice(0, 66) as Hex}${s}${last < parityBit ? '1b' : '1c'}`
}

/** Returns the canonical form: lower-case hex, no leading zeros, and no ERC-6492 wrapper. */
export const canonical = (given: GivenAuthorization): SignedTransfer => ({
  from: lower(given.from),
  to: lower(given.to),
  value: digits(given.value),
  validAfter: digits(given.validAfter),
  validBefore: digits(given.validBefore),
  nonce: lower(given.nonce),
  signature: unwrapped(lower(given.signature)),
})
