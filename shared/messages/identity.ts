import { type Static, Type } from 'typebox'
import { Address, Timestamp } from '#shared/messages/fields'
import { event, question } from '#shared/messages/topic'

export const IdentityDecided = event(
  'identity.decided',
  'gateway',
  Type.Object({ wallet: Address, verified: Type.Boolean(), occurredAt: Timestamp }),
)

/** Announces an erasure, after which readers erase their copies of the wallet's personal data. */
export const IdentityErased = event('identity.erased', 'gateway', Type.Object({ wallet: Address, erasedAt: Timestamp }))

/**
 * Name of a person as the identity provider verified it. It is personal data, which nobody stores or logs. A person may have
 * given names alone.
 */
export const PersonName = Type.Object({
  givenNames: Type.String({ minLength: 1, maxLength: 100 }),
  surname: Type.Union([Type.String({ minLength: 1, maxLength: 100 }), Type.Null()]),
})
export type PersonName = Static<typeof PersonName>

/** Returns the verified name of the wallet's person, or null if the provider has none. */
export const VerifiedName = question('gateway.identity.name', 'gateway', ['payments'], {
  request: Type.Object({ wallet: Address }),
  answer: Type.Object({ name: Type.Union([PersonName, Type.Null()]) }),
  repeat: 'changes nothing',
})
