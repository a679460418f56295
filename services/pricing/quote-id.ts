import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Pair, pairs } from '#shared/money/pair'
import type { Lock } from './quote'

/**
 * A quote id contains the whole quote: a UUID of version 8 (RFC 9562: free layout) with the expiry,
 * pair, rate and spread, a mark that distinguishes equal ones, and a proof by our secret. So unused
 * quotes are stored nowhere, however many are requested.
 *
 *   | expiry, ms since 2025 | pair | minor units per US dollar | spread, bps | mark | proof |
 *   |          39           |   2  |             18            |      9      |  10  |   44  |
 *
 * A proof can only be guessed online, by signed requests that are rate-limited per wallet and
 * address: 2^44 of them take 500 years at 1,000 per second.
 *
 * Version 4 is the previous layout: 6 bits of mark, 48 bits of proof. Such ids are no
 * longer issued, but accepted until those issued before an upgrade expire, within minutes.
 */
const promise = { end: 39n, pair: 2n, rate: 18n, spread: 9n } as const

/** Bits after the promise, by UUID version. `words` prefix the signed text, one per layout. */
const layouts = {
  '8': { words: 'quote 39-2-18-9-6-4', mark: 10n, proof: 44n },
  '4': { words: 'quote 39-2-18-9-6', mark: 6n, proof: 48n },
} as const
type Layout = (typeof layouts)[keyof typeof layouts]

/** Epoch of the expiry field, which lasts until June 2042. */
export const endsFromMs = Date.UTC(2025, 0, 1)
/** Exclusive limit of rates: 262,144 minor units for one US dollar. */
export const rateEnd = 1n << promise.rate
/** Exclusive limit of spreads: 512 basis points. */
export const spreadEnd = 1n << promise.spread
/** Exclusive limit of marks. */
export const markEnd = 1 << Number(layouts['8'].mark)

/** Returns the signed id of a locked rate. `mark` distinguishes ids of the same rate and expiry. */
export function mintQuoteId(secret: string, lock: Lock, mark: number): string {
  const layout = layouts['8']
  const fields = [
    [BigInt(lock.expiresAtMs - endsFromMs), promise.end],
    [BigInt(pairs.indexOf(lock.pair)), promise.pair],
    [lock.minorPerUsd, promise.rate],
    [lock.spreadBps, promise.spread],
    [BigInt(mark), layout.mark],
  ] as const
  const said = fields.reduce((packed, [value, width]) => {
    if (value < 0n || value >> width !== 0n)
      throw new Error(`${value} does not fit into a quote id`)
    return (packed << width) | value
  }, 0n)
  return uuidOf((said << layout.proof) | proofOf(secret, said, layout))
}

/** Decodes an id; returns undefined if no secret verifies it, so that we did not issue it. */
export function readQuoteId(secrets: readonly string[], id: string): Lock | undefined {
  const { packed, layout } = packedOf(id) ?? {}
  if (packed === undefined || !layout) return undefined
  const [said, proof] = split(packed, layout.proof)
  if (!secrets.some((secret) => same(proof, proofOf(secret, said, layout)))) return undefined
  const [promised] = split(said, layout.mark)
  const [beforeSpread, spreadBps] = split(promised, promise.spread)
  const [beforeRate, minorPerUsd] = split(beforeSpread, promise.rate)
  const [end, pair] = split(beforeRate, promise.pair)
  const expiresAtMs = endsFromMs + Number(end)
  return { pair: pairs[Number(pair)] as Pair, minorPerUsd, spreadBps, expiresAtMs }
}

const split = (packed: bigint, width: bigint) =>
  [packed >> width, packed & ((1n << width) - 1n)] as const

/**
 * Returns the first bits of an HMAC-SHA256 over the fields. The signed text starts with the field
 * widths, so a proof is never valid for another layout.
 */
const proofOf = (secret: string, said: bigint, { words, proof }: Layout): bigint =>
  createHmac('sha256', secret).update(`${words}:${said}`).digest().readBigUInt64BE() >>
  (64n - proof)

function same(given: bigint, right: bigint): boolean {
  const bytesOf = (proof: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(proof)
    return bytes
  }
  return timingSafeEqual(bytesOf(given), bytesOf(right))
}

/** Builds a UUID of 122 bits around the version (8) and the variant (binary 10). */
function uuidOf(packed: bigint): string {
  const [head, low] = split(packed, 62n)
  const [high, middle] = split(head, 12n)
  const hex = [hexOf(high, 12), '8', hexOf(middle, 3), hexOf((0b10n << 62n) | low, 16)].join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
const hexOf = (value: bigint, digits: number) => value.toString(16).padStart(digits, '0')

const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-([48])([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/

/** Returns the bits of an id without version and variant; accepts upper and lower case. */
function packedOf(id: string): { packed: bigint; layout: Layout } | undefined {
  const [, first, second, version, middle, third, last] = uuid.exec(id.toLowerCase()) ?? []
  if (version === undefined) return undefined
  const [, afterVariant] = split(BigInt(`0x${third}${last}`), 62n)
  const packed = (BigInt(`0x${first}${second}${middle}`) << 62n) | afterVariant
  return { packed, layout: layouts[version as keyof typeof layouts] }
}
