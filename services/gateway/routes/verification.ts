import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { Refused } from '../http/refused.ts'
import { operation } from '../openapi/operation.ts'
import type { RouteParts } from '../parts.ts'

const Link = Type.Object({
  verified: Type.Boolean(),
  url: Type.Union([Type.String(), Type.Null()]),
})

/** `POST /me/verification`: where the person can be verified; null once the verdict is in. */
export const verificationRoute = ({ identity, door, log }: RouteParts) =>
  new Elysia().post(
    '/me/verification',
    door.signed(async ({ wallet }) => {
      if (await identity.isVerified(wallet)) return { verified: true, url: null }
      const url = await identity.provider.createLink(wallet).catch((error) => {
        log.warn({ err: error }, 'verification link could not be made')
        throw new Refused(503, 'the identity provider does not answer right now, try again', 5)
      })
      await identity.noteLink(wallet) // No link leaves that nobody would ask about.
      return { verified: false, url }
    }),
    operation({
      summary: 'A link to the hosted identity verification',
      description: 'Takes no body. `url` is null when the person is already verified.',
      tag: 'account',
      security: 'session',
      ok: {
        description: 'The page to open.',
        schema: Link,
        example: { verified: false, url: 'https://identity.example/link' },
      },
      errors: [401, 429, 503],
    }),
  )
