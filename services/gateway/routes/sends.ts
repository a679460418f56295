import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { SendCreate } from '#shared/messages/chain'
import { Authorization } from '#shared/messages/fields'
import { readerOf } from '#shared/schema'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { acceptingDeadlineMs } from '../http/deadline'
import { okOf } from '../http/failure'
import { exampleAuthorization, operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const Body = Type.Object({ authorization: Authorization }, { additionalProperties: false })
const read = readerOf(Body)

/** `POST /sends`: relays a signed transfer, once. */
export const sendsRoute = ({ ask }: Context, access: Access) =>
  new Elysia()
    .use(access)
    .post(
      '/sends',
      async ({ request, wallet }) =>
        okOf(
          await ask(
            SendCreate,
            { wallet, ...(await readBody(request, read)) },
            acceptingDeadlineMs,
          ),
        ),
      {
        signed: true,
        ...operation({
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
      },
    )
