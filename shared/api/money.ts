import { Type } from 'typebox'
import { exampleItem, GetActivityItem, idParameter, itemIds } from '#shared/api/activity'
import { route } from '#shared/api/route'
import { Method } from '#shared/messages/activity'
import { SendCreate } from '#shared/messages/chain'
import { Authorization, Bank, FiatAmount, Uuid } from '#shared/messages/fields'
import type { Form } from '#shared/messages/form'
import { SettlementCreate, TopupCreate } from '#shared/messages/payments'
import { AccountCheck, CashoutCreate } from '#shared/messages/payouts'

const quoteId = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const bank = { channelCode: 'ID_BCA', accountNumber: '1234567890', accountHolderName: 'Sari Dewi' }

export const exampleAuthorization = {
  from: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  to: '0x1111111111111111111111111111111111111111',
  value: '5000000',
  validAfter: '0',
  validBefore: '1795246200',
  nonce: `0x${'5a'.repeat(32)}`,
  signature: `0x${'1b'.repeat(65)}`,
}

export const PostTopup = route({
  method: 'POST',
  path: '/topups',
  access: 'signed',
  tag: 'money',
  summary: 'Pay local currency into the credit line',
  description:
    'The account must be verified. The minimum is RM 5.00 or Rp 10,000. `card` limits the ' +
    'checkout to cards; other methods show every channel. A frozen wallet cannot use `card`; ' +
    'it repays what it owes with `bank` or `qr`.',
  returns: 'The checkout to open.',
  example: {
    body: {
      amount: '50000',
      method: 'qr',
      quoteId,
    },
    answer: {
      paymentId: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
      checkoutUrl: 'https://checkout.example/session',
      fiat: '50000',
      ausd: '3076923',
    },
  },
  errors: [403],
  body: Type.Object(
    {
      amount: FiatAmount,
      method: Method,
      quoteId: Uuid,
    },
    {
      additionalProperties: false,
      title: 'TopupRequest',
      description: 'A top-up: amount in the currency of the quote, and payment method.',
    },
  ),
  answer: TopupCreate.answer,
})

export const PostSettlement = route({
  method: 'POST',
  path: '/settlements',
  access: 'signed',
  tag: 'money',
  summary: 'Repay the whole debt in local currency',
  description:
    'Charges all of `drawn`, converted at the quote and rounded up. Paid by card or e-wallet, ' +
    'the debt is repaid at once, and the same amount stays in `encumbered` of `GET /me` until ' +
    'the hold ends. To pay a part in local currency, top up and call `repayFromCollateral`: see ' +
    '`/docs/guide/settle`.',
  returns: 'The checkout to open.',
  example: {
    body: { quoteId },
    answer: {
      paymentId: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
      checkoutUrl: 'https://checkout.example/session',
      fiat: '162500',
      ausd: '10000000',
    },
  },
  body: Type.Object(
    { quoteId: Uuid },
    {
      additionalProperties: false,
      saysUnknown: 'whole_settlement' satisfies Form,
      title: 'SettlementRequest',
      description: 'A settlement: the quote at which the entire debt is charged.',
    },
  ),
  answer: SettlementCreate.answer,
})

/** Declares the cancellation of a top-up or a settlement. */
const cancelling = <P extends string>(path: P, kind: 'topup' | 'settlement', noun: string) =>
  route({
    method: 'POST',
    path,
    access: 'signed',
    tag: 'money',
    summary: `Cancel the open checkout of a ${noun}`,
    description:
      'Takes no body. The provider decides between a payment and a cancellation at the same moment, ' +
      'and the answer is the item afterwards: `expired` with the reason `cancelled`, or paid. Its ' +
      'limits are free again at once. A checkout that is no longer open is returned unchanged, so ' +
      'repeating has no further effect. A code that was shown before may still be paid: that money ' +
      'is credited late, if the limits admit it.',
    parameters: [
      {
        ...idParameter,
        description: '`paymentId` of the checkout.',
        schema: { ...idParameter.schema, pattern: itemIds.payment.source },
      },
    ],
    body: null,
    answer: GetActivityItem.answer,
    returns: 'The item after the cancellation.',
    example: { answer: { ...cancelled, kind } },
    errors: [404],
    worded: true,
  })

const { checkoutUrl: _, ...ended } = exampleItem
const cancelled = {
  ...ended,
  status: 'expired',
  reason: 'cancelled',
  nextAction: null,
  sentence: 'This checkout was cancelled. Nothing was charged. Open a new checkout to pay.',
  inFlight: false,
}

export const PostTopupCancel = cancelling('/topups/:id/cancel', 'topup', 'top-up')
export const PostSettlementCancel = cancelling('/settlements/:id/cancel', 'settlement', 'settlement')

export const PostCashout = route({
  method: 'POST',
  path: '/cashouts',
  access: 'signed',
  tag: 'money',
  summary: 'Pay AUSD out to an Indonesian bank account',
  description:
    'Returns at once; the payout is in `inFlight` of `GET /me/activity` until the provider ' +
    'confirms it. `authorization.to` must be the treasury, `validBefore` at least 5 minutes ' +
    'ahead, and the payout at least Rp 10,000. A frozen wallet is refused.',
  returns: 'The AUSD taken and the rupiah paid.',
  example: {
    body: { quoteId, authorization: exampleAuthorization, bank },
    answer: {
      payoutId: '5e0d2c1b-8a4f-8e3d-9c2b-7a6f5e4d3c2b',
      ausd: '5000000',
      fiat: '81250',
    },
  },
  errors: [403],
  body: Type.Object(
    { quoteId: Uuid, authorization: Authorization, bank: Bank },
    {
      additionalProperties: false,
      title: 'CashoutRequest',
      description: 'A cash-out: a signed transfer to the treasury, and the bank account to pay.',
    },
  ),
  answer: CashoutCreate.answer,
})

/** Checks the holder name of an account. Apps may offer it, but no cash-out needs it. */
export const PostAccountCheck = route({
  method: 'POST',
  path: '/cashouts/check',
  access: 'signed',
  tag: 'money',
  summary: 'Check the holder name of a bank account',
  description:
    'Optional: no cash-out needs it. The account must be verified. The name is compared without ' +
    'regard to case, accents, punctuation, titles and the order of its parts. `cannot_tell` means ' +
    'that the provider gave no clear answer in time. `cashouts.checksPerDayMax` of `GET /config` ' +
    'is the limit of a wallet, and of a bank account over all wallets; the same request within a ' +
    'day returns its verdict again and counts once.',
  returns: 'The verdict.',
  example: {
    body: { bank },
    answer: { verdict: 'match', sentence: 'The bank has this account in this name.' },
  },
  errors: [403],
  worded: true,
  body: Type.Object(
    { bank: Bank },
    {
      additionalProperties: false,
      title: 'AccountCheckRequest',
      description: 'A bank account and the holder name to check.',
    },
  ),
  answer: Type.Object(
    {
      ...AccountCheck.answer.properties,
      sentence: Type.String({ description: 'The verdict in words for the user.' }),
    },
    { title: 'AccountCheckResult', description: 'Verdict on a bank account and its holder name.' },
  ),
})

export const PostSend = route({
  method: 'POST',
  path: '/sends',
  access: 'signed',
  tag: 'money',
  summary: 'Relay a signed AUSD transfer',
  description:
    'The account must be verified and not frozen. Retries are safe: `authorization.from` and ' +
    '`authorization.nonce` identify the request.',
  returns: 'The accepted send.',
  example: {
    body: { authorization: exampleAuthorization },
    answer: {
      sendId: 'snd_Zk3nT0a7yQm1c5VbXw9uRd',
      ausd: '5000000',
      to: '0x1111111111111111111111111111111111111111',
    },
  },
  errors: [403],
  body: Type.Object(
    { authorization: Authorization },
    {
      additionalProperties: false,
      title: 'SendRequest',
      description: 'A signed transfer to relay.',
    },
  ),
  answer: SendCreate.answer,
})
