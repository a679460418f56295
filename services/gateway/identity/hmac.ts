import { createHmac, timingSafeEqual } from 'node:crypto'

/** Does `hex` equal the HMAC of the bytes under any of the secrets? Compared in constant time. */
export function signedByAny(
  secrets: readonly string[],
  algorithm: 'sha256' | 'sha512',
  parts: readonly (string | Uint8Array)[],
  hex: string,
): boolean {
  const given = Buffer.from(/^[0-9a-f]+$/i.test(hex) ? hex : '', 'hex')
  const matches = secrets.filter((secret) => {
    const mac = createHmac(algorithm, secret)
    for (const part of parts) mac.update(part)
    const wanted = mac.digest()
    return wanted.length === given.length && timingSafeEqual(wanted, given)
  })
  return matches.length > 0
}
