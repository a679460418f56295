import { type TSchema, Type } from 'typebox'
import { countries } from '#shared/api/country'
import { route } from '#shared/api/route'
import { AutoRepaySourceName } from '#shared/messages/credit'
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

const AutoRepay = Type.Object(
  {
    maxPerCycle: AusdAmount,
    source: AutoRepaySourceName,
    taken: amountOf('AUSD (10⁻⁶) that was taken in the open cycle.'),
    startsAt: orNull(UnixSeconds, 'Time from which the debt is repaid; null if no cycle is open.'),
  },
  {
    title: 'AutoRepay',
    description:
      'Permission to repay the debt automatically: from `startsAt`, a day before `dueAt`, with three tries until then and ' +
      'one on each day after it. Each takes the debt, or what is left of `maxPerCycle` if that is less, and fails if the ' +
      'source has less.',
  },
)

const until = orNull(UnixSeconds, 'End of the last hold; null if nothing is on hold.')

const exampleMe = {
  wallet: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  verified: true,
  verification: {
    status: 'approved',
    nextAction: null,
    sentence: 'Your identity is verified.',
  },
  user: { country: 'ID', createdAt: '2026-11-07T07:00:00.000Z' },
  collateral: {
    value: '3076923',
    shares: '3076923000000',
    pendingShares: '1000000000000',
    pendingValue: '1000000',
    pendingUntil: '1795244460',
  },
  pendingUntil: '1795244460',
  limit: '1615384',
  drawn: '1000000',
  encumbered: '500000',
  encumberedUntil: '1795244460',
  held: [
    {
      what: 'collateral',
      reason: 'may_be_taken_back',
      ausd: '1000000',
      shares: '1000000000000',
      until: '1795244460',
      sentence: 'This payment can still be reversed, so it counts as collateral only after its hold ends.',
    },
    {
      what: 'repayment',
      reason: 'may_be_taken_back',
      ausd: '500000',
      shares: null,
      until: '1795244460',
      sentence:
        'Your debt is repaid, but the payment can still be reversed, so this part of your limit is available again only after its hold ends.',
    },
  ],
  available: '115384',
  score: '20',
  ratioBps: '5250',
  cycles: 2,
  cycle: {
    number: 3,
    openedAt: '1795244400',
    dueAt: '1797836400',
    defaultsAt: '1798441200',
    sentence: 'Repay by 21 December 2026, 14:00 WIB. A later repayment counts as late and lowers your credit score.',
  },
  autoRepay: { maxPerCycle: '500000000', source: 'wallet', taken: '0', startsAt: '1797750000' },
  defaulted: false,
  frozen: false,
  limits: {
    topup: { day: '1000000000', left: '996923077', resetsAt: '2026-11-22T00:00:00.000Z' },
    cashout: { day: '1000000000', left: '1000000000', resetsAt: '2026-11-22T00:00:00.000Z' },
  },
  balance: { ausd: '1000000', native: '500000000000000000' },
}

export const GetMe = route({
  method: 'GET',
  path: '/me',
  access: 'signed',
  tag: 'account',
  summary: 'The signed-in user',
  description:
    'A debt repaid by card or e-wallet is gone at once; the same amount stays in `encumbered` ' +
    'until `encumberedUntil`, because the payment can still be reversed, and counts against the ' +
    'limit. Amounts paid beyond the debt are in `collateral.pendingShares`. `held` lists both, ' +
    'item by item, with the AUSD amount, the reason and the end of the hold. `available` is the ' +
    'largest possible draw now: 0 until the wallet is verified, whatever its collateral. ' +
    '`verification` has the status and the next step: `none` and `started` need ' +
    '`POST /me/verification`, `in_review` waits for the provider, `rejected` has in `nextAction` ' +
    'whether to try again or, for the second wallet of a person and after a withdrawal, to `contact support`, and `approved` is followed by `verified` once it is onchain. ' +
    '`frozen`: a payment was reversed after its hold, or a refund or dispute of it is open; no draw, withdrawal, card top-up, cash-out ' +
    'or send until it is repaid. `cycle` has the due date of the debt. ' +
    'A limit in `limits` is null while its service does not respond. Chain times are unix seconds as decimal strings; ' +
    '`balance.native` is in wei.',
  returns: 'The account on the credit line.',
  example: { answer: exampleMe },
  worded: true,
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
      autoRepay: orNull(
        AutoRepay,
        'Permission of the automatic repayment, set on the credit line by `setAutoRepay`; null without one.',
      ),
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
  tag: 'account',
  summary: "Set the user's country of residence",
  returns: 'The current country.',
  example: { body: { country: 'MY' }, answer: { country: 'MY' } },
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
  tag: 'account',
  summary: 'Create a link to the hosted identity verification',
  description:
    'Takes no body. `url` is null if the user is already verified. A request soon after another ' +
    'one returns the same link; a wallet gets at most 5 new links a day.',
  returns: 'The page to open.',
  example: { answer: { verified: false, url: 'https://identity.example/link' } },
  errors: [403],
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

const exampleExport = {
  wallet: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  exportedAt: '2026-11-21T07:00:00.000Z',
  rows: [
    {
      table: 'gateway.users',
      values: {
        wallet: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
        country: 'ID',
        createdAt: '2026-11-07T07:00:00.000Z',
      },
    },
  ],
}

export const GetExport = route({
  method: 'GET',
  path: '/me/export',
  access: 'signed',
  tag: 'account',
  summary: 'Export everything stored about the wallet',
  description:
    'All rows about the wallet and its payments and cash-outs, from every service, with the bank ' +
    'accounts, but without the notes of operators and the wallets that the identity provider has as the ' +
    'same person. Names and documents of the identity verification are only at its provider. At ' +
    'most 5 exports a day; a response that ends early is not valid JSON.',
  returns: 'Every stored row.',
  example: { answer: exampleExport },
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
