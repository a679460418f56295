import { Elysia } from 'elysia'
import { schemaReader } from '#platform/schema'
import { PostSend } from '#shared/api/money'
import { SendCreate } from '#shared/messages/chain'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { okOf } from '../http/failure'
import { placeUnderTerms, withReason } from '../http/order'
import { exampleAuthorization, operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const read = schemaReader(PostSend.body)

export const sendsRoute = (context: Context, access: Access) =>
  new Elysia().use(access).post(
    PostSend.path,
    async ({ request, wallet }) => {
      const body = await readBody(request, read)
      const answer = await placeUnderTerms(context, SendCreate, { wallet, ...body })
      return okOf(await withReason(context.ask, wallet, answer))
    },
    {
      signed: true,
      ...operation({
        summary: 'Relay a signed AUSD transfer',
        description:
          'The account must be verified and not frozen. Retries are safe: `authorization.from` and ' +
          '`authorization.nonce` identify the request.',
        tag: 'money',
        security: 'session',
        body: { schema: PostSend.body, example: { authorization: exampleAuthorization } },
        ok: {
          description: 'The accepted send.',
          schema: PostSend.answer,
          example: {
            sendId: 'snd_Zk3nT0a7yQm1c5VbXw9uRd',
            ausd: '5000000',
            to: '0x1111111111111111111111111111111111111111',
          },
        },
        errors: [400, 401, 403, 413, 415, 429, 503],
      }),
    },
  )
