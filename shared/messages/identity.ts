import { Type } from 'typebox'
import { Address, Timestamp } from '#shared/messages/fields'
import { event } from '#shared/messages/topic'

/** A decision of the identity provider that changes the verified flag of a wallet. */
export const IdentityDecided = event(
  'identity.decided',
  'gateway',
  Type.Object({ wallet: Address, verified: Type.Boolean(), occurredAt: Timestamp }),
)

/**
 * The personal data of a wallet was erased. Readers erase their own copies; a restore from an older backup
 * erases it again.
 */
export const IdentityErased = event(
  'identity.erased',
  'gateway',
  Type.Object({ wallet: Address, erasedAt: Timestamp }),
)
