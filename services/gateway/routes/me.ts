import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'
import { ChainAccount } from '#shared/messages/chain'
import { Address, Amount, Timestamp, UnixSeconds } from '#shared/messages/fields'
import { okOf } from '../http/respond.ts'
import { operation } from '../openapi/operation.ts'
import type { RouteParts } from '../parts.ts'
import type { User } from '../users/user.store.ts'

const pendingUntil = Type.Union([UnixSeconds, Type.Null()])
const Me = Type.Object({
  wallet: Address,
  verified: Type.Boolean(),
  user: Type.Object({
    country: Type.Union([Type.String(), Type.Null()]),
    createdAt: Timestamp,
  }),
  collateral: Type.Object({ value: Amount, shares: Amount, pendingShares: Amount, pendingUntil }),
  pendingUntil,
  limit: Amount,
  drawn: Amount,
  available: Amount,
  score: Amount,
  ratioBps: Amount,
  cycles: Type.Integer(),
  defaulted: Type.Boolean(),
  balance: Type.Object({ ausd: Amount, native: Amount }),
})

/** `GET /me`: the user, as the contract and our own row have them. */
export const meRoute = ({ ask, users, door }: RouteParts) =>
  new Elysia().get(
    '/me',
    door.signed(async ({ wallet }) => {
      const [account, user] = await Promise.all([ask(ChainAccount, { wallet }), users.find(wallet)])
      return meOf(wallet, okOf(account), user)
    }),
    operation({
      summary: 'The signed-in user',
      description: 'Chain times are unix seconds as decimal strings; `balance.native` is in wei.',
      tag: 'account',
      security: 'session',
      ok: { description: 'The account on the credit line.', schema: Me, example },
      errors: [401, 429, 503],
    }),
  )

function meOf(
  wallet: `0x${string}`,
  account: Static<typeof ChainAccount.answer>,
  user: User | undefined,
): Static<typeof Me> {
  const { verified, collateral, limit, drawn, score, ratioBps, cycles, defaulted, balance } =
    account
  const freeMicro = BigInt(limit) - BigInt(drawn)
  return {
    wallet,
    verified,
    user: {
      country: user?.country ?? null,
      createdAt: (user?.createdAt ?? new Date()).toISOString(),
    },
    collateral,
    pendingUntil: collateral.pendingUntil,
    limit,
    drawn,
    available: String(freeMicro > 0n ? freeMicro : 0n),
    score,
    ratioBps,
    cycles,
    defaulted,
    balance,
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
  available: '1461538',
  score: '500',
  ratioBps: '8000',
  cycles: 0,
  defaulted: false,
  balance: { ausd: '1000000', native: '500000000000000000' },
}
