import { signedByAny } from '../../hmac.ts'

/** HMAC_SHA1_HEX exists at the provider and is refused here, as is any word not in the table. */
const algorithms = new Map([
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
] as const)

/** Sumsub signs the raw body; the time is not signed, so order and replay are decided elsewhere. */
export function verifySumsub(
  body: Uint8Array,
  headers: Headers,
  secrets: readonly string[],
): { ok: true } | { reason: string } {
  const digest = headers.get('x-payload-digest')
  if (!digest) return { reason: 'x-payload-digest is missing' }
  const word = headers.get('x-payload-digest-alg') ?? ''
  const algorithm = (algorithms as ReadonlyMap<string, 'sha256' | 'sha512'>).get(word)
  if (!algorithm) return { reason: 'x-payload-digest-alg is not accepted' }
  if (!signedByAny(secrets, algorithm, [body], digest)) return { reason: 'the digest is wrong' }
  return { ok: true }
}
