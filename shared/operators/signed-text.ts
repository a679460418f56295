import { hashMessage, recoverMessageAddress } from 'viem'
import type { OperatorSignature, Terms } from '#shared/messages/operator-commands'
import type { ReadSignature } from '#shared/operators/may-perform'

/** An operator's command as it is signed. `request` is the request as JSON, without its approval. */
export type SignedCommand = {
  readonly deployment: string
  /** Subject of the request, which names service and command. */
  readonly subject: string
  readonly request: object
  readonly terms: Terms
}

/**
 * Returns the text that an operator signs (EIP-191): everything that the service will do. Each value is in it with its name,
 * so a signature counts for no other deployment, command, target, state, sum, reason or time.
 */
export const signedText = ({ deployment, subject, request, terms }: SignedCommand): string =>
  [
    "AUSD: operator's command",
    `deployment ${deployment}`,
    `command ${subject}`,
    `request ${orderedJson(request)}`,
    `terms ${orderedJson(terms)}`,
  ].join('\n')

/** Returns the hash of the text, which names an approval. */
export const signedHash = (command: SignedCommand): `0x${string}` => hashMessage(signedText(command))

/** Returns the hash of a command without its terms, which is the same however often it is signed. */
export const requestHash = ({ deployment, subject, request }: Omit<SignedCommand, 'terms'>): `0x${string}` =>
  hashMessage(orderedJson({ deployment, subject, request }))

/** Returns JSON with the keys of each object in order, so that equal values are equal texts. */
export const orderedJson = (value: unknown): string => JSON.stringify(inOrder(JSON.parse(JSON.stringify(value))))

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const sorted = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, one]) => [key, inOrder(one)]))
}

/** Finds out which key made each signature. */
export const readSignatures = (
  command: SignedCommand,
  signatures: readonly OperatorSignature[],
): Promise<ReadSignature[]> => {
  const message = signedText(command)
  return Promise.all(
    signatures.map(async ({ by, signature }) => {
      const read = recoverMessageAddress({ message, signature: signature as `0x${string}` })
      const address = await read.catch(() => undefined)
      return { by, address: address?.toLowerCase() as `0x${string}` | undefined }
    }),
  )
}
