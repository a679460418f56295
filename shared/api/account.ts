import { type TSchema, Type } from 'typebox'
import { countries } from '#shared/api/country'
import { route } from '#shared/api/route'
import {
  Address,
  AusdAmount,
  amountOf,
  DayLimit,
  ShareAmount,
  Timestamp,
  UnixSeconds,
  WeiAmount,
} from '#shared/messages/fields'
import type { Form } from '#shared/messages/form'

const verificationStatuses = ['none', 'started', 'in_review', 'rejected', 'approved'] as const
const verificationActions = ['verify', 'wait', 'contact support'] as const

const orNull = <T extends TSchema>(schema: T, description: string) => Type.Union([schema, Type.Null()], { description })

const Verification = Type.Object(
  {
    status: Type.Enum([...verificationStatuses], {
      title: 'VerificationStatus',
      description: 'Status of the identity verification.',
    }),
    nextAction: orNull(
      Type.Enum([...verificationActions], {
        title: 'VerificationAction',
        description: '`verify` by `POST /me/verification`, `wait`, or `contact support`.',
      }),
      'Next step of the user; null if none is needed.',
    ),
    sentence: Type.String({ description: 'Text to show to the user; its wording may change.' }),
  },
  { title: 'Verification', description: 'Identity verification of the user.' },
)

const Held = Type.Object(
  {
    what: Type.Enum(['collateral', 'repayment'], {
      description: 'New collateral, or a repayment.',
    }),
    reason: Type.Enum(['may_be_taken_back'], {
      title: 'HoldReason',
      description: 'Why it is on hold: the payment can still be reversed.',
    }),
    ausd: AusdAmount,
    shares: orNull(ShareAmount, 'The amount in shares; null for a repayment, which is not collateral.'),
    until: UnixSeconds,
    sentence: Type.String({ description: 'Text to show to the user; its wording may change.' }),
  },
  { title: 'HeldItem', description: 'An amount on hold, which does not count yet.' },
)

const Cycle = Type.Object(
  {
    number: Type.Integer({ description: 'Number of the cycle, from 1, in order of opening.' }),
    openedAt: UnixSeconds,
    dueAt: UnixSeconds,
    defaultsAt: UnixSeconds,
    sentence: Type.String({ description: 'Text to show to the user; its wording may change.' }),
  },
  {
    title: 'OpenCycle',
    description:
      'The open cycle: `dueAt` is the last second in which a repayment is in time, `defaultsAt` the ' +
      'last one in which it prevents a default, which anyone may mark a week later. A pause of the credit line moves both.',
  },
)

const until = orNull(UnixSeconds, 'End of the last hold; null if nothing is on hold.')

export const GetMe = route({
  method: 'GET',
  path: '/me',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      wallet: Address,
      verified: Type.Boolean({ description: 'Verification flag on the chain.' }),
      verification: Verification,
      user: Type.Object(
        {
          country: orNull(Type.String(), 'ISO 3166-1 alpha-2; null if not set.'),
          createdAt: Timestamp,
        },
        { title: 'User', description: 'User data that is not on the chain.' },
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
          description: 'Available collateral (`value`, `shares`) and collateral on hold (the pending fields).',
        },
      ),
      pendingUntil: until,
      limit: AusdAmount,
      drawn: AusdAmount,
      encumbered: AusdAmount,
      encumberedUntil: until,
      held: Type.Array(Held, {
        description: 'Amounts on hold: new collateral, and debt repaid by card or e-wallet.',
      }),
      available: AusdAmount,
      score: amountOf('Credit score in points: starts at 0 and changes when a cycle closes.'),
      ratioBps: amountOf('Share of the collateral that may be borrowed, in hundredths of a percent.'),
      cycles: Type.Integer({ description: 'Number of closed cycles, including reversed ones.' }),
      cycle: orNull(Cycle, 'The open cycle; null if none is open: nothing is owed, or the debt has defaulted.'),
      defaulted: Type.Boolean({ description: 'Whether a debt was not repaid in time.' }),
      frozen: Type.Boolean({
        description:
          'Whether the wallet is frozen: a payment was reversed after its hold, or a refund or dispute of it is open.',
      }),
      limits: Type.Object(
        {
          topup: orNull(DayLimit, 'Top-ups; null if unknown at the moment.'),
          cashout: orNull(DayLimit, 'Cash-outs; null if unknown at the moment.'),
        },
        {
          title: 'Limits',
          description: 'Daily limits of the wallet. Open top-ups and bank accounts have limits of their own, too.',
        },
      ),
      balance: Type.Object(
        { ausd: AusdAmount, native: WeiAmount },
        { title: 'Balance', description: 'Balances of the wallet itself.' },
      ),
    },
    { title: 'Me', description: 'Account on the credit line, as of the newest block.' },
  ),
})

export const PostCountry = route({
  method: 'POST',
  path: '/me/country',
  access: 'signed',
  body: Type.Object(
    {
      country: Type.Enum(countries as [string, ...string[]], {
        description: 'ISO 3166-1 alpha-2, upper case.',
        says: 'country' satisfies Form,
      }),
    },
    {
      additionalProperties: false,
      title: 'CountryRequest',
      description: "The user's country of residence.",
    },
  ),
  answer: Type.Object(
    { country: Type.String({ description: 'ISO 3166-1 alpha-2, upper case.' }) },
    { title: 'CountryResult', description: 'The country that is now set.' },
  ),
})

export const PostVerification = route({
  method: 'POST',
  path: '/me/verification',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      verified: Type.Boolean({
        description: 'Whether the user is verified; the flag on the chain may follow a moment later.',
      }),
      url: orNull(
        Type.String(),
        'Page to open; null if the user is already verified. A rejected user gets a new link.',
      ),
    },
    { title: 'VerificationLink', description: 'Link to the identity verification.' },
  ),
})

export const GetExport = route({
  method: 'GET',
  path: '/me/export',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      wallet: Address,
      exportedAt: Timestamp,
      rows: Type.Array(
        Type.Object(
          {
            table: Type.String({ description: 'Table of the row, with the service that owns it.' }),
            values: Type.Record(Type.String(), Type.Unknown(), {
              description:
                'Fields of the row. Amounts are strings in the unit that the name ends with: `Micro` ' +
                'is 10⁻⁶ AUSD, `Minor` the smallest unit of the currency, `Wei` of the native coin.',
            }),
          },
          { title: 'StoredRow', description: 'One stored row about the wallet or its items.' },
        ),
        { description: 'Every row, by table.' },
      ),
    },
    { title: 'Export', description: 'Everything that is stored about the wallet.' },
  ),
})
