import { createHmac, timingSafeEqual } from 'node:crypto'
import { feeText, isFree, noFee } from '#shared/money/fee'
import { type Pair, pairs } from '#shared/money/pair'
import { noTopupFees, topupFeesText } from '#shared/money/topup-fee'
import type { Context } from './context'
import type { Lock } from './quote'

/**
 * A quote id contains the whole quote: a UUID of version 8 (RFC 9562: free layout) with our proof, so that
 * unused quotes are stored nowhere. `mark` distinguishes equal ones.
 *
 *   | expiry, ms since 2025 | pay-in only | pair | minor units per US dollar | spread, bps | mark | proof |
 *   |          39           |      1      |   1  |             18            |      9      |  10  |   44  |
 *
 * A proof can only be guessed online, by rate-limited requests: 2^44 take 500 years at 1,000 per second.
 */
const widths = { end: 39n, payInOnly: 1n, pair: 1n, rate: 18n, spread: 9n, mark: 10n, proof: 44n } as const
/**
 * Prefix of the signed text, which names the layout so that a proof is never valid for another one. The pair and the bit
 * before it share the two bits of the pair in earlier ids, so that these stay valid.
 */
const signedPrefix = 'quote 39-2-18-9-10'
/** Prefix of a quote for cash-outs only, which has the same layout and a spread below the reference. */
const payOutPrefix = `${signedPrefix} pay-out`

/** Start of the expiry field, in Unix ms; the field lasts until June 2042. */
export const endsFromMs = Date.UTC(2025, 0, 1)
/** Exclusive maximum of the rate: 262,144 minor units per US dollar. */
export const rateEnd = 1n << widths.rate
/** Exclusive maximum of the spread: 512 basis points. */
export const spreadEnd = 1n << widths.spread
/** Exclusive maximum of the mark. */
export const markEnd = 1 << Number(widths.mark)

/** Fees of the settings, which quotes are signed with. */
type Fees = Pick<Context, 'cashoutFee' | 'topupFees'>
const noFees: Fees = { cashoutFee: noFee, topupFees: new Map() }

export function mintQuoteId(secret: string, lock: Lock, mark: number, fees = noFees): string {
  const fields = [
    [BigInt(lock.expiresAtMs - endsFromMs), widths.end],
    [lock.use === 'pay_in' ? 1n : 0n, widths.payInOnly],
    [BigInt(pairs.indexOf(lock.pair)), widths.pair],
    [lock.minorPerUsd, widths.rate],
    [lock.use === 'pay_out' ? -lock.spreadBps : lock.spreadBps, widths.spread],
    [BigInt(mark), widths.mark],
  ] as const
  const said = fields.reduce((packed, [value, width]) => {
    if (value < 0n || value >> width !== 0n) throw new Error(`${value} does not fit into a quote id`)
    return (packed << width) | value
  }, 0n)
  return uuidOf((said << widths.proof) | proofOf(secret, said, prefixOf(lock, fees)))
}

/**
 * Returns the prefix of the signed text. A quote for cash-outs is signed with their fee, and one for money that comes in with the
 * fees of its top-ups, so that one of before a change is unknown and prices nothing at another fee than it named.
 */
function prefixOf({ use, pair }: Pick<Lock, 'use' | 'pair'>, { cashoutFee, topupFees }: Fees): string {
  const prefix = use === 'pay_out' ? payOutPrefix : signedPrefix
  const ofCashouts = use === 'pay_in' || isFree(cashoutFee) ? '' : ` fee ${feeText(cashoutFee)}`
  // guard: a quote for money that comes in is signed with the fees of its top-ups
  const ofTopups = use === 'pay_out' ? '' : topupFeesText(topupFees.get(pair) ?? noTopupFees)
  return `${prefix}${ofCashouts}${ofTopups && ` top-ups ${ofTopups}`}`
}

/** Reads the lock in a quote id. Returns undefined for an id that no secret verifies, or one of other fees. */
export function readQuoteId(secrets: readonly string[], id: string, fees = noFees): Lock | undefined {
  const packed = packedOf(id)
  if (packed === undefined) return undefined
  const [said, proof] = split(packed, widths.proof)
  const [promised] = split(said, widths.mark)
  const [beforeSpread, spread] = split(promised, widths.spread)
  const [beforeRate, minorPerUsd] = split(beforeSpread, widths.rate)
  const [beforePair, pairIndex] = split(beforeRate, widths.pair)
  const [end, payInOnly] = split(beforePair, widths.payInOnly)
  const expiresAtMs = endsFromMs + Number(end)
  const pair = pairs[Number(pairIndex)] as Pair
  const isProven = (use: Lock['use']) => {
    const prefix = prefixOf({ use, pair }, fees)
    return secrets.some((secret) => same(proof, proofOf(secret, said, prefix)))
  }
  const isPayOut = isProven('pay_out')
  const use = isPayOut ? 'pay_out' : payInOnly === 1n ? 'pay_in' : 'any'
  // guard: a quote that we did not issue is invalid
  if (!isPayOut && !isProven(use)) return undefined
  return { pair, minorPerUsd, spreadBps: isPayOut ? -spread : spread, use, expiresAtMs }
}

const split = (packed: bigint, width: bigint) => [packed >> width, packed & ((1n << width) - 1n)] as const

const proofOf = (secret: string, said: bigint, prefix: string): bigint =>
  createHmac('sha256', secret).update(`${prefix}:${said}`).digest().readBigUInt64BE() >> (64n - widths.proof)

function same(given: bigint, right: bigint): boolean {
  const bytesOf = (proof: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(proof)
    return bytes
  }
  return timingSafeEqual(bytesOf(given), bytesOf(right))
}

/** Writes 122 bits around the version (8) and the variant (binary 10). */
function uuidOf(packed: bigint): string {
  const [head, low] = split(packed, 62n)
  const [high, middle] = split(head, 12n)
  const hex = [hexOf(high, 12), '8', hexOf(middle, 3), hexOf((0b10n << 62n) | low, 16)].join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
const hexOf = (value: bigint, digits: number) => value.toString(16).padStart(digits, '0')

const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/

/** Reads the 122 bits of an id in upper or lower case. */
function packedOf(id: string): bigint | undefined {
  const [, first, second, middle, third, last] = uuid.exec(id.toLowerCase()) ?? []
  if (first === undefined) return undefined
  const [, afterVariant] = split(BigInt(`0x${third}${last}`), 62n)
  return (BigInt(`0x${first}${second}${middle}`) << 62n) | afterVariant
}
