import { Elysia } from 'elysia'
import { schemaReader } from '#platform/schema'
import { PostAccountCheck, PostCashout } from '#shared/api/money'
import { textIn } from '#shared/language/catalogue'
import { AccountCheck, CashoutCreate } from '#shared/messages/payouts'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { okOf } from '../http/failure'
import { languageFor } from '../http/language'
import { placeOrder, placeUnderTerms, withReason } from '../http/order'
import { exampleAuthorization, operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const read = schemaReader(PostCashout.body)
const readCheck = schemaReader(PostAccountCheck.body)
const quoteId = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const bank = { channelCode: 'ID_BCA', accountNumber: '1234567890', accountHolderName: 'Sari Dewi' }

export const cashoutsRoute = (context: Context, access: Access) =>
  new Elysia().use(access).post(
    PostCashout.path,
    async ({ request, wallet }) => {
      const body = await readBody(request, read)
      const answer = await placeUnderTerms(context, CashoutCreate, { wallet, ...body })
      return okOf(await withReason(context.ask, wallet, answer))
    },
    {
      signed: true,
      ...operation({
        summary: 'Pay AUSD out to an Indonesian bank account',
        description:
          'Returns at once; the payout is in `inFlight` of `GET /me/activity` until the provider ' +
          'confirms it. `authorization.to` must be the treasury, `validBefore` at least 5 minutes ' +
          'ahead, and the payout at least Rp 10,000. A frozen wallet is refused.',
        tag: 'money',
        security: 'session',
        body: {
          schema: PostCashout.body,
          example: { quoteId, authorization: exampleAuthorization, bank },
        },
        ok: {
          description: 'The AUSD taken and the rupiah paid.',
          schema: PostCashout.answer,
          example: {
            payoutId: '5e0d2c1b-8a4f-8e3d-9c2b-7a6f5e4d3c2b',
            ausd: '5000000',
            fiat: '81250',
          },
        },
        errors: [400, 401, 403, 413, 415, 429, 503],
      }),
    },
  )

export const accountCheckRoute = ({ ask }: Context, access: Access) =>
  new Elysia().use(access).post(
    PostAccountCheck.path,
    async ({ request, set, wallet }) => {
      const asked = { wallet, ...(await readBody(request, readCheck)) }
      const { verdict } = okOf(await placeOrder(ask, AccountCheck, asked))
      const code = `account_check.${verdict}` as const
      return { verdict, sentence: textIn(languageFor({ request, set }), [{ code }]) }
    },
    {
      signed: true,
      ...operation({
        summary: 'Check the holder name of a bank account',
        description:
          'Optional: no cash-out needs it. The account must be verified. The name is compared without ' +
          'regard to case, accents, punctuation, titles and the order of its parts. `cannot_tell` means ' +
          'that the provider gave no clear answer in time. `cashouts.checksPerDayMax` of `GET /config` ' +
          'is the limit of a wallet, and of a bank account over all wallets; the same request within a ' +
          'day returns its verdict again and counts once.',
        tag: 'money',
        security: 'session',
        body: { schema: PostAccountCheck.body, example: { bank } },
        ok: {
          description: 'The verdict.',
          schema: PostAccountCheck.answer,
          example: { verdict: 'match', sentence: 'The bank has this account in this name.' },
        },
        worded: true,
        errors: [400, 401, 403, 413, 415, 429, 503],
      }),
    },
  )
