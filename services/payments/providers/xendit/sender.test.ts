import { describe, expect, test } from 'bun:test'
import { senderVerificationOf } from './sender'

/** Returns a payment with the verification at its documented place. */
const documented = (sender_verification: unknown, more: object = {}) => ({
  payment_details: {
    payer_name: 'Sari Dewi',
    verification_result: {
      is_eligible: true,
      sender_verification,
      risk_assessment: { result: 'NONE', reason: 'No alert' },
      ...more,
    },
  },
})
const matched = { result: 'SENDER_MATCHED', reason: 'Name matched' }

describe('the sender verification of a payment', () => {
  test.each([
    ['is passed if the sender matched', documented(matched), 'passed'],
    ['is failed if the sender is unknown', documented({ result: 'UNKNOWN', reason: 'timeout' }), 'failed'],
    ['is failed in a word that is not documented', documented({ result: 'SENDER_NOT_MATCHED' }), 'failed'],
    ['is failed if the result is no text', documented({ result: { word: 'SENDER_MATCHED' } }), 'failed'],
    ['is failed if the payer is not eligible', documented(matched, { is_eligible: false }), 'failed'],
    ['is failed if the eligibility is a word', documented(matched, { is_eligible: 'NO' }), 'failed'],
    ['is failed if the payer is a risk', documented(matched, { risk_assessment: { result: 'HIGH' } }), 'failed'],
    ['is failed if the risk is no object', documented(matched, { risk_assessment: 'ALERT' }), 'failed'],
    ['is passed without a risk', documented(matched, { risk_assessment: null }), 'passed'],
    ['is passed without an eligibility', documented(matched, { is_eligible: null }), 'passed'],
    ['is pending without a result', documented({ result: null }), 'pending'],
    ['is pending while it is in progress', documented({ result: 'PENDING' }), 'pending'],
    ['is pending if it is empty', { payment_details: { verification_result: {} } }, 'pending'],
    ['is read as one word', { payment_details: { verification_result: 'UNKNOWN' } }, 'failed'],
    [
      'is failed at the top of the payment',
      { verification_result: { sender_verification: { result: 'UNKNOWN' } } },
      'failed',
    ],
    ['is failed without its wrapper', { payment_details: { sender_verification: { result: 'UNKNOWN' } } }, 'failed'],
    ['is passed without its wrapper', { payment_details: { sender_verification: matched } }, 'passed'],
    [
      'is failed if one of two results is',
      { ...documented(matched), sender_verification: { result: 'UNKNOWN' } },
      'failed',
    ],
    ['is absent if only the request is there', { verification_data: { given_names: 'Sari' } }, undefined],
    ['is absent if it is null', { payment_details: { verification_result: null } }, undefined],
    ['is absent without details', {}, undefined],
  ] as const)('%s', (_, wire, result) => {
    expect(senderVerificationOf(wire as never)).toBe(result as never)
  })
})
