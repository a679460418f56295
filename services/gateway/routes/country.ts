import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { readerOf } from '#shared/schema'
import { readBody } from '../http/body.ts'
import { operation } from '../openapi/operation.ts'
import type { RouteParts } from '../parts.ts'
import { countries } from '../users/country.ts'

const Body = Type.Object(
  {
    country: Type.Enum(countries as [string, ...string[]], {
      says: 'must be an ISO 3166-1 alpha-2 code in upper case',
    }),
  },
  { additionalProperties: false },
)
const read = readerOf(Body)

/** `POST /me/country`: where the user lives. */
export const countryRoute = ({ users, door }: RouteParts) =>
  new Elysia().post(
    '/me/country',
    door.signed(async ({ request, wallet }) => {
      const { country } = await readBody(request, read)
      await users.settle(wallet, country)
      return { country }
    }),
    operation({
      summary: 'Set the country where the user lives',
      tag: 'account',
      security: 'session',
      body: { schema: Body, example: { country: 'MY' } },
      ok: {
        description: 'The country as it is now.',
        schema: Type.Object({ country: Type.String() }),
        example: { country: 'MY' },
      },
      errors: [400, 401, 413, 429, 503],
    }),
  )
