import { Type } from 'typebox'
import { Address, Timestamp } from '#shared/messages/fields'
import { event } from '#shared/messages/topic'

/** The identity provider's verdict on a wallet's person, as far as it moves the verified flag. */
export const IdentityDecided = event(
  'identity.decided',
  'gateway',
  Type.Object({ wallet: Address, verified: Type.Boolean(), occurredAt: Timestamp }),
)
