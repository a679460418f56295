import type { RefusalCode } from '#shared/refusals'
import type { SignedTransfer } from './operation'

/** What a decision about an authorization needs to know of the chain. */
export type SignerFacts = {
  readonly verified: boolean
  readonly frozen: boolean
  readonly signatureValid: boolean
  readonly nonceUsed: boolean
  /** AUSD the wallet holds, less what operations in flight will still move; 10⁻⁶. */
  readonly freeMicro: bigint
}

const zero = `0x${'0'.repeat(40)}`
const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()

type Rule<Context> = readonly [RefusalCode, (context: Context) => boolean]
type Words = { wallet: string; token: string; nowSeconds: bigint; signed: SignedTransfer }

/** What can be said of a send without asking the chain, in the order in which it is checked. */
const rules: readonly Rule<Words>[] = [
  ['wallet_not_from', ({ wallet, signed }) => !same(wallet, signed.from)],
  ['to_zero', ({ signed }) => same(signed.to, zero)],
  ['to_token', ({ signed, token }) => same(signed.to, token)],
  ['value_zero', ({ signed }) => BigInt(signed.value) === 0n],
  ['valid_before_past', ({ signed, nowSeconds }) => BigInt(signed.validBefore) <= nowSeconds],
  ['valid_after_not_reached', ({ signed, nowSeconds }) => BigInt(signed.validAfter) >= nowSeconds],
]

export const refusalOfWords = (words: Words): RefusalCode | undefined =>
  rules.find(([, broken]) => broken(words))?.[0]

/**
 * What speaks against an authorization, in the order in which it is checked. A forged one is told
 * nothing of the wallet; a frozen wallet is told so before its balance is looked at.
 */
export function refusalOfSigner(
  facts: SignerFacts,
  signed: SignedTransfer,
): RefusalCode | undefined {
  if (!facts.signatureValid) return 'signature_invalid'
  if (facts.frozen) return 'wallet_frozen'
  if (facts.nonceUsed) return 'nonce_used'
  if (facts.freeMicro < BigInt(signed.value)) return 'balance_too_low'
  return undefined
}

/** All that speaks against a send: only the first is told. */
export const refusalOfSend = (words: Words, facts: SignerFacts): RefusalCode | undefined =>
  refusalOfWords(words) ?? (facts.verified ? refusalOfSigner(facts, words.signed) : 'not_verified')
