import { Type } from 'typebox'
import { GetActivityItem } from '#shared/api/activity'
import { route } from '#shared/api/route'
import { Method } from '#shared/messages/activity'
import { SendCreate } from '#shared/messages/chain'
import { Authorization, Bank, FiatAmount, Uuid } from '#shared/messages/fields'
import type { Form } from '#shared/messages/form'
import { SettlementCreate, TopupCreate } from '#shared/messages/payments'
import { AccountCheck, CashoutCreate } from '#shared/messages/payouts'

export const PostTopup = route({
  method: 'POST',
  path: '/topups',
  access: 'signed',
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

export const PostTopupCancel = route({
  method: 'POST',
  path: '/topups/:id/cancel',
  access: 'signed',
  body: null,
  answer: GetActivityItem.answer,
})

export const PostSettlementCancel = route({
  method: 'POST',
  path: '/settlements/:id/cancel',
  access: 'signed',
  body: null,
  answer: GetActivityItem.answer,
})

export const PostCashout = route({
  method: 'POST',
  path: '/cashouts',
  access: 'signed',
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
