import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Pair, pairs } from '#shared/money/pair'
import type { Lock } from './quote'

/**
 * A quote's id is the quote: a UUID of version 8 (RFC 9562: ours to lay out) that holds its end, its
 * pair, its rate and the spread in it, which copy of the service made it and as which of that moment,
 * and a proof by a secret of ours that we made it. So a quote that nobody takes is kept nowhere, and
 * a flood of them fills nothing.
 *
 *   | end, ms since 2025 | pair | smallest units for one US dollar | spread, bps | copy | count | proof |
 *   |         39         |   2  |                18                |      9      |   6  |   4   |   44  |
 *
 * The proof is guessed over the wire alone, where each guess costs a signed request that is limited
 * per wallet and address: 2^44 of them, 500 years at 1,000 a second.
 *
 * Version 4 is the layout before: no copy, a count of 6 bits, a proof of 48. Such ids are read for as
 * long as those that were made before an upgrade live, which is minutes, and never made.
 */
const promise = { end: 39n, pair: 2n, rate: 18n, spread: 9n } as const
const bits = { copy: 6n, count: 4n } as const

/**
 * What follows the promise, by the UUID's version. `words` begin the proof: none proves another.
 */
const layouts = {
  '8': { words: 'quote 39-2-18-9-6-4', mark: bits.copy + bits.count, proof: 44n },
  '4': { words: 'quote 39-2-18-9-6', mark: 6n, proof: 48n },
} as const
type Layout = (typeof layouts)[keyof typeof layouts]

/** Ends are counted from here, and have room until June 2042. */
export const endsFromMs = Date.UTC(2025, 0, 1)
/** Rates fit below: 262,144 smallest units for one US dollar. */
export const rateEnd = 1n << promise.rate
/** Spreads fit below: 512 basis points. */
export const spreadEnd = 1n << promise.spread
/** Numbers of copies fit below. */
export const copyEnd = 1 << Number(bits.copy)
/** So many quotes of one copy may end in the same millisecond. */
export const countEnd = 1 << Number(bits.count)

/** What tells an id from all others with the same promise. */
export type Mark = { readonly copy: number; readonly count: number }

/**
 * The id of a locked rate, proven by `secret`; `copy` below `copyEnd`, `count` below `countEnd`.
 */
export function mintQuoteId(secret: string, lock: Lock, { copy, count }: Mark): string {
  const fields = [
    [BigInt(lock.expiresAtMs - endsFromMs), promise.end],
    [BigInt(pairs.indexOf(lock.pair)), promise.pair],
    [lock.minorPerUsd, promise.rate],
    [lock.spreadBps, promise.spread],
    [BigInt(copy), bits.copy],
    [BigInt(count), bits.count],
  ] as const
  const said = fields.reduce((packed, [value, width]) => {
    if (value < 0n || value >> width !== 0n) throw new Error(`${value} has no room in a quote id`)
    return (packed << width) | value
  }, 0n)
  const layout = layouts['8']
  return uuidOf((said << layout.proof) | proofOf(secret, said, layout))
}

/** What an id promises; undefined when none of the secrets proves it: we never made it. */
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
 * The first bits of an HMAC-SHA256 over what the id says. Its first words name the widths of the
 * layout: an id of other widths proves nothing, instead of something else.
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

/** 122 bits between the version, 8, and the variant, binary 10. */
function uuidOf(packed: bigint): string {
  const [head, low] = split(packed, 62n)
  const [high, middle] = split(head, 12n)
  const hex = [hexOf(high, 12), '8', hexOf(middle, 3), hexOf((0b10n << 62n) | low, 16)].join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
const hexOf = (value: bigint, digits: number) => value.toString(16).padStart(digits, '0')

const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-([48])([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/

/** The bits of an id between its version and its variant; its case says nothing. */
function packedOf(id: string): { packed: bigint; layout: Layout } | undefined {
  const [, first, second, version, middle, third, last] = uuid.exec(id.toLowerCase()) ?? []
  if (version === undefined) return undefined
  const [, afterVariant] = split(BigInt(`0x${third}${last}`), 62n)
  const packed = (BigInt(`0x${first}${second}${middle}`) << 62n) | afterVariant
  return { packed, layout: layouts[version as keyof typeof layouts] }
}
