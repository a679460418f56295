import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Pair, pairs } from '#shared/money/pair'
import type { Lock } from './quote'

/**
 * A quote's id is the quote: a UUID of its end, its pair, its rate and the spread in it, a serial
 * number that tells quotes of one moment apart, and a proof by a secret of ours that we made it. So a
 * quote that nobody takes is kept nowhere, and a flood of them fills nothing. By RFC 9562 its version
 * would be 8; it says 4, as the ids of quotes always did, for apps that check it.
 *
 *   | end, ms since 2025 | pair | smallest units for one US dollar | spread, bps | serial | proof |
 *   |         39         |   2  |                18                |      9      |    6   |   48  |
 *
 * The proof is guessed over the wire alone, where each guess costs a signed request: 2^48 of them.
 * Two copies that make a quote of one rate in the same millisecond may, one time in 64, make the same:
 * who takes it second is told that it is used, and asks for another.
 */
const bits = { end: 39n, pair: 2n, rate: 18n, spread: 9n, serial: 6n, proof: 48n } as const

/** Ends are counted from here, and have room until June 2042. */
export const endsFromMs = Date.UTC(2025, 0, 1)
/** Rates fit below: 262,144 smallest units for one US dollar. */
export const rateEnd = 1n << bits.rate
/** Spreads fit below: 512 basis points. */
export const spreadEnd = 1n << bits.spread
/** Quotes of one moment have different ids for as long as there are fewer. */
export const serialEnd = 1 << Number(bits.serial)

/** The id of a locked rate, proven by `secret`; `serial` below `serialEnd`. */
export function mintQuoteId(secret: string, lock: Lock, serial: number): string {
  const fields = [
    [BigInt(lock.expiresAtMs - endsFromMs), bits.end],
    [BigInt(pairs.indexOf(lock.pair)), bits.pair],
    [lock.minorPerUsd, bits.rate],
    [lock.spreadBps, bits.spread],
    [BigInt(serial), bits.serial],
  ] as const
  const said = fields.reduce((packed, [value, width]) => {
    if (value < 0n || value >> width !== 0n) throw new Error(`${value} has no room in a quote id`)
    return (packed << width) | value
  }, 0n)
  return uuidOf((said << bits.proof) | proofOf(secret, said))
}

/** What an id promises; undefined when none of the secrets proves it: we never made it. */
export function readQuoteId(secrets: readonly string[], id: string): Lock | undefined {
  const packed = packedOf(id)
  if (packed === undefined) return undefined
  const [said, proof] = split(packed, bits.proof)
  if (!secrets.some((secret) => same(proof, proofOf(secret, said)))) return undefined
  const [beforeSerial] = split(said, bits.serial)
  const [beforeSpread, spreadBps] = split(beforeSerial, bits.spread)
  const [beforeRate, minorPerUsd] = split(beforeSpread, bits.rate)
  const [end, pair] = split(beforeRate, bits.pair)
  const expiresAtMs = endsFromMs + Number(end)
  return { pair: pairs[Number(pair)] as Pair, minorPerUsd, spreadBps, expiresAtMs }
}

const split = (packed: bigint, width: bigint) =>
  [packed >> width, packed & ((1n << width) - 1n)] as const

/**
 * The first bits of an HMAC-SHA256 over what the id says. Its first words name the widths above: an id
 * of other widths proves nothing, instead of something else.
 */
const proofOf = (secret: string, said: bigint): bigint =>
  BigInt(
    `0x${createHmac('sha256', secret).update(`quote 39-2-18-9-6:${said}`).digest('hex').slice(0, 12)}`,
  )

function same(given: bigint, right: bigint): boolean {
  const bytesOf = (proof: bigint) => Buffer.from(proof.toString(16).padStart(12, '0'), 'hex')
  return timingSafeEqual(bytesOf(given), bytesOf(right))
}

/** 122 bits between the version, 4, and the variant, binary 10. */
function uuidOf(packed: bigint): string {
  const [head, low] = split(packed, 62n)
  const [high, middle] = split(head, 12n)
  const hex = [hexOf(high, 12), '4', hexOf(middle, 3), hexOf((0b10n << 62n) | low, 16)].join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
const hexOf = (value: bigint, digits: number) => value.toString(16).padStart(digits, '0')

function packedOf(id: string): bigint | undefined {
  const [, high, middle, low] =
    /^([0-9a-f]{12})4([0-9a-f]{3})([89ab][0-9a-f]{15})$/.exec(
      id.toLowerCase().replaceAll('-', ''),
    ) ?? []
  if (!high || !middle || !low) return undefined
  const [, afterVariant] = split(BigInt(`0x${low}`), 62n)
  return (BigInt(`0x${high}${middle}`) << 62n) | afterVariant
}
