import { recover } from 'tiny-secp256k1'
import { type Hex, hashMessage, hexToBytes, keccak256 } from 'viem'
import { sessionSecondsMax } from '#shared/api/session'
import type { Code } from '#shared/language/catalogue'

export type Session = {
  /** Wallet in lower case. */
  readonly wallet: `0x${string}`
  /** End of the session, in unix seconds. */
  readonly until: number
  readonly signature: Hex
}

/** Maximum length of the header. A contract wallet's signature can have 4096 bytes, which is 8194 characters. */
const headerLengthMax = 8_400

const walletPattern = /^0x[0-9a-fA-F]{40}$/
/** Canonical decimal, so that a session has only one form. */
const untilPattern = /^[1-9][0-9]{0,11}$/
const signaturePattern = /^0x([0-9a-fA-F]{2}){65,4096}$/

export type SessionFault = Extract<Code, `session_${string}`>

/** Parses a session. Checks form and time before any cryptography. */
export function parseSession(
  header: string | null,
  nowSeconds: number,
): { session: Session } | { fault: SessionFault } {
  if (header === null || header === '') return { fault: 'session_missing' }
  if (header.length > headerLengthMax) return { fault: 'session_too_long' }
  if (!header.startsWith('Service ')) return { fault: 'session_scheme' }
  const parts = header.slice('Service '.length).split('.')
  if (parts.length !== 3) return { fault: 'session_form' }
  const [wallet, until, signature] = parts as [string, string, string]
  if (!walletPattern.test(wallet)) return { fault: 'session_wallet' }
  if (!untilPattern.test(until)) return { fault: 'session_until' }
  // guard: a session expires
  if (Number(until) <= nowSeconds) return { fault: 'session_expired' }
  if (Number(until) > nowSeconds + sessionSecondsMax) return { fault: 'session_too_far' }
  if (!signaturePattern.test(signature)) return { fault: 'session_signature' }
  return {
    session: {
      wallet: wallet.toLowerCase() as `0x${string}`,
      until: Number(until),
      signature: signature.toLowerCase() as Hex,
    },
  }
}

/** Half of the order of secp256k1; a signature above it is the malleable twin of another. */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const order = 2n * halfOrder + 1n

/**
 * Returns true if the wallet's key signed the text (EIP-191). It is false for a contract wallet, whose
 * signature only the contract can read.
 */
export function isSignedBy(wallet: `0x${string}`, text: string, signature: Hex): boolean {
  if (signature.length !== 2 + 65 * 2) return false
  const r = BigInt(signature.slice(0, 66))
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const v = Number.parseInt(signature.slice(130), 16)
  if (![0, 1, 27, 28].includes(v)) return false
  // guard: a session has one signature and no malleable twin
  if (r === 0n || r >= order || s === 0n || s > halfOrder) return false
  const bytes = hexToBytes(signature)
  const bit = v % 27 === 0 ? 0 : 1
  const key = recovered(hashMessage(text, 'bytes'), bytes.subarray(0, 64), bit)
  // guard: a session is signed by the key of its wallet
  return key !== null && addressOf(key) === wallet
}

/**
 * Recovers a key by libsecp256k1 as WebAssembly: recovery blocks all requests, and viem's takes over twice as
 * long (measured).
 */
function recovered(hash: Uint8Array, signature: Uint8Array, bit: 0 | 1): Uint8Array | null {
  try {
    return recover(hash, signature, bit, false)
  } catch {
    return null
  }
}

const addressOf = (publicKey: Uint8Array): Hex => `0x${keccak256(publicKey.subarray(1)).slice(-40)}`
