import { createHmac } from 'node:crypto'

// The format of Standard Webhooks 1.0.0, https://www.standardwebhooks.com

const prefix = 'whsec_'
/** Lengths of a key in bytes that Standard Webhooks allows. */
const [bytesMin, bytesMax] = [24, 64]

/** Returns the key of a secret `whsec_<base64>`. Throws if it is none. */
export function keyOf(secret: string): Buffer {
  const encoded = secret.slice(prefix.length)
  const key = Buffer.from(encoded, 'base64')
  // Buffer skips characters that are not base64, so only what it encodes the same way is.
  const isBase64 = key.toString('base64') === encoded
  if (!secret.startsWith(prefix) || !isBase64 || key.length < bytesMin || key.length > bytesMax)
    throw new Error(`must be ${prefix}<base64 of ${bytesMin} to ${bytesMax} bytes>, or several separated by commas`)
  return key
}

export type SignedCall = { readonly id: string; readonly atSeconds: number; readonly body: string }

/** Returns the headers of a call, with a signature by each key, so that the receiver may know any of them. */
export function signedHeaders(keys: readonly Buffer[], { id, atSeconds, body }: SignedCall): Record<string, string> {
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${atSeconds}.${body}`).digest('base64')}`,
  )
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signatures.join(' '),
  }
}
