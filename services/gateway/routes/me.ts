import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'
import { ChainAccount } from '#shared/messages/chain'
import { Address, Amount, Timestamp, UnixSeconds } from '#shared/messages/fields'
import { joined } from '#shared/reads/reads'
import { readerOf } from '#shared/schema'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { inTime } from '../http/deadline'
import { okOf, Refused } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'
import { countries } from '../users/country'
import type { User } from '../users/user.store'

const until = Type.Union([UnixSeconds, Type.Null()])
const Me = Type.Object({
  wallet: Address,
  verified: Type.Boolean(),
  user: Type.Object({
    country: Type.Union([Type.String(), Type.Null()]),
    createdAt: Timestamp,
  }),
  collateral: Type.Object({
    value: Amount,
    shares: Amount,
    pendingShares: Amount,
    pendingUntil: until,
  }),
  pendingUntil: until,
  limit: Amount,
  drawn: Amount,
  encumbered: Amount,
  encumberedUntil: until,
  available: Amount,
  score: Amount,
  ratioBps: Amount,
  cycles: Type.Integer(),
  defaulted: Type.Boolean(),
  frozen: Type.Boolean(),
  balance: Type.Object({ ausd: Amount, native: Amount }),
})

/** `GET /me`: the user, as the contract and our own row have them. */
export const meRoute = ({ ask, users }: Context, access: Access) => {
  const read = async (wallet: `0x${string}`) => {
    const [found, user] = await Promise.all([ask(ChainAccount, { wallet }), users.find(wallet)])
    return JSON.stringify(meOf(wallet, okOf(found), user))
  }
  // A country that was just set must show: no answer is older than its question.
  const me = joined(read, (wallet) => wallet)
  return new Elysia().use(access).get(
    '/me',
    async ({ set, wallet }) => {
      const body = await inTime(me(wallet), 'the user')
      set.headers['content-type'] = 'application/json'
      return body
    },
    {
      signed: true,
      ...operation({
        summary: 'The signed-in user',
        description:
          'A debt repaid by card or e-wallet is gone at once; the same amount stays in `encumbered` ' +
          'until `encumberedUntil`, because the payment may still be taken back, and frees nothing ' +
          'of the limit. What was paid beyond the debt is in `collateral.pendingShares`. ' +
          '`available` is what a draw would be given now. `frozen`: a payment was taken back after ' +
          'its hold; no draw, withdrawal, card top-up, cash-out or send until it is made good. ' +
          'Chain times are unix seconds as decimal strings; `balance.native` is in wei.',
        tag: 'account',
        security: 'session',
        ok: { description: 'The account on the credit line.', schema: Me, example },
        errors: [401, 429, 503],
      }),
    },
  )
}

function meOf(
  wallet: `0x${string}`,
  account: Static<typeof ChainAccount.answer>,
  user: User | undefined,
): Static<typeof Me> {
  return {
    wallet,
    verified: account.verified,
    user: {
      country: user?.country ?? null,
      createdAt: (user?.createdAt ?? new Date()).toISOString(),
    },
    collateral: account.collateral,
    pendingUntil: account.collateral.pendingUntil,
    limit: account.limit,
    drawn: account.drawn,
    encumbered: account.encumbered,
    encumberedUntil: account.encumberedUntil,
    available: account.available,
    score: account.score,
    ratioBps: account.ratioBps,
    cycles: account.cycles,
    defaulted: account.defaulted,
    frozen: account.frozen,
    balance: account.balance,
  }
}

const example: Static<typeof Me> = {
  wallet: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  verified: true,
  user: { country: 'ID', createdAt: '2026-11-21T07:00:00.000Z' },
  collateral: { value: '3076923', shares: '3076923', pendingShares: '0', pendingUntil: null },
  pendingUntil: null,
  limit: '2461538',
  drawn: '1000000',
  encumbered: '500000',
  encumberedUntil: '1795244460',
  available: '961538',
  score: '500',
  ratioBps: '8000',
  cycles: 0,
  defaulted: false,
  frozen: false,
  balance: { ausd: '1000000', native: '500000000000000000' },
}

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
export const countryRoute = ({ users }: Context, access: Access) =>
  new Elysia().use(access).post(
    '/me/country',
    async ({ request, wallet }) => {
      const { country } = await readBody(request, read)
      await inTime(users.setCountry(wallet, country), 'the users')
      return { country }
    },
    {
      signed: true,
      ...operation({
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
    },
  )

const Link = Type.Object({
  verified: Type.Boolean(),
  url: Type.Union([Type.String(), Type.Null()]),
})

/** `POST /me/verification`: where the person can be verified; null once the verdict is in. */
export const verificationRoute = ({ provider, verification, log }: Context, access: Access) =>
  new Elysia().use(access).post(
    '/me/verification',
    async ({ wallet }) => {
      const isVerified = inTime(verification.isVerified(wallet), 'the verdicts')
      if (await isVerified) return { verified: true, url: null }
      const url = await provider.createLink(wallet).catch((error) => {
        log.warn({ err: error }, 'verification link could not be made')
        throw new Refused(503, 'the identity provider does not answer right now, try again', 5)
      })
      // No link leaves that nobody would ask about.
      await inTime(verification.noteLink(wallet), 'the rechecks')
      return { verified: false, url }
    },
    {
      signed: true,
      ...operation({
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
    },
  )
