import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { SendCreate } from '#shared/messages/chain'
import { Authorization } from '#shared/messages/fields'
import { readerOf } from '#shared/schema'
import type { Context } from '../context'
import { readBody } from '../http/body'
import type { Door } from '../http/door'
import { okOf } from '../http/failure'
import { exampleAuthorization } from '../openapi/examples'
import { operation } from '../openapi/operation'

const Body = Type.Object({ authorization: Authorization }, { additionalProperties: false })
const read = readerOf(Body)

/** `POST /sends`: relays a signed transfer, once. */
export const sendsRoute = ({ ask }: Context, door: Door) =>
  new Elysia().post(
    '/sends',
    door.signed(async ({ request, wallet }) =>
      okOf(await ask(SendCreate, { wallet, ...(await readBody(request, read)) })),
    ),
    operation({
      summary: 'Relay a signed AUSD transfer',
      description:
        'The account must be verified and not frozen. `authorization.from` with `authorization.nonce` makes ' +
        'the request safe to repeat.',
      tag: 'money',
      security: 'session',
      body: { schema: Body, example: { authorization: exampleAuthorization } },
      ok: {
        description: 'The send, on its way.',
        schema: SendCreate.answer,
        example: {
          sendId: 'snd_Zk3nT0a7yQm1c5VbXw9uRd',
          ausd: '5000000',
          to: '0x1111111111111111111111111111111111111111',
        },
      },
      errors: [400, 401, 403, 413, 429, 503],
    }),
  )
