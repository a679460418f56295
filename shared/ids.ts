import { createHash } from 'node:crypto'

/** Prefixes, which show the kind of an id in a log line. */
const prefixes = {
  payment: 'pay',
  operation: 'op',
  send: 'snd',
  delivery: 'dlv',
  message: 'msg',
} as const

export type IdKind = keyof typeof prefixes
export type Id<K extends IdKind = IdKind> = `${(typeof prefixes)[K]}_${string}`

const digestOf = (kind: string, cause: string) => createHash('sha256').update(`${kind}:${cause}`).digest()

/** Returns the id of a cause. The same cause gives the same id, so a retry finds its first attempt. */
export const idFor = <K extends IdKind>(kind: K, cause: string): Id<K> =>
  `${prefixes[kind]}_${digestOf(kind, cause).toString('base64url').slice(0, 22)}`

/**
 * Returns the id of a message. A repeated message needs its own `repeat` (0 is the first), because the broker drops ids
 * that it saw in the last minutes.
 */
export const messageIdFor = (
  { subject }: { readonly subject: string },
  cause: string,
  repeat: number | string = 0,
): Id<'message'> => idFor('message', `${subject}:${cause}${repeat === 0 ? '' : `:${repeat}`}`)

/** Returns a UUID of version 8 (RFC 9562), for ids that the interface defines as UUIDs. */
export function uuidFor(kind: string, cause: string): string {
  const bytes = digestOf(kind, cause).subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
