import type { Static } from 'typebox'
import type { ActivityEntry } from '#shared/messages/activity'
import type { Operation } from './operation.store'

export type Entry = Static<typeof ActivityEntry>

/** Why a send failed, in words of the person who signed it. */
const reasons = new Map<string, string>([
  ['balance_too_low', 'the wallet no longer held enough AUSD'],
  ['authorization_expired', 'the authorization expired before it could be relayed'],
  ['authorization_cancelled', 'the authorization was cancelled'],
  ['authorization_used_elsewhere', 'the authorization was used for another transfer'],
  ['signature_invalid', 'the token did not accept the signature'],
  ['content_refused', 'the token does not accept this recipient'],
])
const otherwise = 'the token refused the transfer'

const statuses = {
  waiting: 'sending',
  assigned: 'sending',
  settled: 'sent',
  failed: 'failed',
} as const

/** A send as its wallet's activity shows it. */
export function entryOf(operation: Operation & { kind: 'send' }): Entry {
  const { authorization, sendId } = operation.payload
  const status = statuses[operation.state]
  return {
    id: sendId,
    kind: 'send',
    status,
    inFlight: status === 'sending',
    ...(status === 'failed' && { reason: reasons.get(operation.reason ?? '') ?? otherwise }),
    ausd: authorization.value,
    to: authorization.to,
    ...(operation.txHash && { txHash: operation.txHash }),
    createdAt: operation.createdAt.toISOString(),
    updatedAt: operation.updatedAt.toISOString(),
  }
}
