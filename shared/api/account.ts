import { type TSchema, Type } from 'typebox'
import { countries } from '#shared/api/country'
import { route } from '#shared/api/route'
import {
  Address,
  AusdAmount,
  amountOf,
  ShareAmount,
  Timestamp,
  UnixSeconds,
  WeiAmount,
} from '#shared/messages/fields'

/** How the verification of a person stands. */
export const verificationStatuses = [
  'none',
  'started',
  'in_review',
  'rejected',
  'approved',
] as const
/** What the person does about it; null where nothing is to be done. */
export const verificationActions = ['verify', 'wait', 'contact support'] as const

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

const Verification = Type.Object(
  {
    status: Type.Enum([...verificationStatuses], {
      title: 'VerificationStatus',
      description: 'How far it is.',
    }),
    nextAction: orNull(
      Type.Enum([...verificationActions], {
        title: 'VerificationAction',
        description: '`verify` by `POST /me/verification`, `wait`, or `contact support`.',
      }),
      'What the person does about it; null when nothing is to be done.',
    ),
    sentence: Type.String({ description: 'The same for a person; its wording may change.' }),
  },
  { title: 'Verification', description: 'The verification of the person behind the wallet.' },
)

const Held = Type.Object(
  {
    what: Type.Enum(['collateral', 'repayment'], {
      description: 'New collateral, or a debt that was repaid.',
    }),
    reason: Type.Enum(['may_be_taken_back'], {
      title: 'HoldReason',
      description: 'Why: the payer can still have the payment taken back.',
    }),
    ausd: AusdAmount,
    shares: orNull(ShareAmount, 'The same in shares; null of a repayment, which is no collateral.'),
    until: UnixSeconds,
    sentence: Type.String({ description: 'The same for a person; its wording may change.' }),
  },
  { title: 'HeldItem', description: "What is the user's and frees nothing yet." },
)

const until = orNull(UnixSeconds, 'When the last of it is free; null when nothing is held.')

/** The user, as the contract and the gateway's own row have them. */
export const GetMe = route({
  method: 'GET',
  path: '/me',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      wallet: Address,
      verified: Type.Boolean({ description: 'The flag on the chain.' }),
      verification: Verification,
      user: Type.Object(
        {
          country: orNull(Type.String(), 'ISO 3166-1 alpha-2; null until it is set.'),
          createdAt: Timestamp,
        },
        { title: 'User', description: 'What is known of the user beside the chain.' },
      ),
      collateral: Type.Object(
        {
          value: AusdAmount,
          shares: ShareAmount,
          pendingShares: ShareAmount,
          pendingValue: AusdAmount,
          pendingUntil: until,
        },
        {
          title: 'Collateral',
          description:
            'What counts, as `value` and `shares`, and what is held, as the pending ones.',
        },
      ),
      pendingUntil: until,
      limit: AusdAmount,
      drawn: AusdAmount,
      encumbered: AusdAmount,
      encumberedUntil: until,
      held: Type.Array(Held, {
        description: 'Each sum on hold: new collateral, and debt repaid by card or e-wallet.',
      }),
      available: AusdAmount,
      score: amountOf('Points: 0 at first, moved by how cycles end.'),
      ratioBps: amountOf(
        'The share of the collateral that may be owed, in hundredths of a percent.',
      ),
      cycles: Type.Integer({ description: 'Closed cycles, reversed ones included.' }),
      defaulted: Type.Boolean({ description: 'A debt was not repaid in time.' }),
      frozen: Type.Boolean({ description: 'A payment was taken back after its hold.' }),
      balance: Type.Object(
        { ausd: AusdAmount, native: WeiAmount },
        { title: 'Balance', description: 'What the wallet itself holds.' },
      ),
    },
    { title: 'Me', description: 'The account on the credit line, as the chain has it now.' },
  ),
})

/** Where the user lives. */
export const PostCountry = route({
  method: 'POST',
  path: '/me/country',
  access: 'signed',
  body: Type.Object(
    {
      country: Type.Enum(countries as [string, ...string[]], {
        description: 'ISO 3166-1 alpha-2, in upper case.',
        says: 'must be an ISO 3166-1 alpha-2 code in upper case',
      }),
    },
    {
      additionalProperties: false,
      title: 'CountryRequest',
      description: 'The country where the user lives.',
    },
  ),
  answer: Type.Object(
    { country: Type.String({ description: 'ISO 3166-1 alpha-2, in upper case.' }) },
    { title: 'CountryResult', description: 'The country as it is now.' },
  ),
})

/** Where the person can be verified; `url` is null when that is done already. */
export const PostVerification = route({
  method: 'POST',
  path: '/me/verification',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      verified: Type.Boolean({
        description:
          'Whether the person is verified; the flag on the chain may follow a moment later.',
      }),
      url: orNull(
        Type.String(),
        'The page to open; null when the person is verified already. Whoever was refused gets one again.',
      ),
    },
    { title: 'VerificationLink', description: 'Where the person can be verified.' },
  ),
})
