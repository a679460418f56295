import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'
import { ChainAccount } from '#shared/messages/chain'
import { Address, Amount, Timestamp, UnixSeconds } from '#shared/messages/fields'
import { okOf } from '../http/respond.ts'
import { operation } from '../openapi/operation.ts'
import type { RouteParts } from '../parts.ts'
import type { User } from '../users/user.store.ts'

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
export const meRoute = ({ ask, users, door }: RouteParts) =>
  new Elysia().get(
    '/me',
    door.signed(async ({ wallet }) => {
      const [account, user] = await Promise.all([ask(ChainAccount, { wallet }), users.find(wallet)])
      return meOf(wallet, okOf(account), user)
    }),
    operation({
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
  )

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
