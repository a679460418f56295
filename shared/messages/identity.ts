import { Type } from 'typebox'
import { Address, Timestamp } from '#shared/messages/fields'
import { event } from '#shared/messages/topic'

export const IdentityDecided = event(
  'identity.decided',
  'gateway',
  Type.Object({ wallet: Address, verified: Type.Boolean(), occurredAt: Timestamp }),
)

/** Announces an erasure, after which readers erase their copies of the wallet's personal data. */
export const IdentityErased = event('identity.erased', 'gateway', Type.Object({ wallet: Address, erasedAt: Timestamp }))
