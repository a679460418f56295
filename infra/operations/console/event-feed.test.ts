import { describe, expect, test } from 'bun:test'
import { topics } from '#shared/messages/catalogue'
import { TakeOrdered } from '#shared/messages/relay'
import { identityWebhookSubject, paymentsWebhookSubject } from '#shared/messages/webhooks'
import { feedEntryOf, flows } from './event-feed'

const wallet = `0x${'ab'.repeat(20)}`
const paymentId = `pay_${'x'.repeat(22)}`
const payoutId = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const subjectOf = (ending: string) => topics.find(({ subject }) => subject.endsWith(ending))?.subject ?? ending

describe('the event feed describes a message', () => {
  const paid = { paymentId, wallet, kind: 'topup', fiat: '50000', currency: 'IDR', ausd: '3076923' }
  const out = { payoutId, wallet, fiat: '48750', ausd: '3000000' }
  const order = { refId: `${paymentId}.2`, wallet, ausd: '3076923', held: true }
  const outcome = { operationId: 'op', cause: `${paymentId}:99`, wallet }
  test.each([
    ['payments.paid', paid, 'in', 'top-up paid', paymentId],
    ['payments.settled', { ...paid, kind: 'settlement' }, 'in', 'settlement completed', paymentId],
    ['payouts.taken', out, 'out', 'cash-out AUSD received', payoutId],
    ['relay.credit', order, 'in', 'credit ordered', paymentId],
    ['relay.extend.settled', outcome, 'in', 'hold extension final', paymentId],
    ['relay.take.failed', { ...outcome, cause: payoutId }, 'out', 'treasury failed', payoutId],
    ['relay.verify', { wallet, verified: true, revision: '1' }, 'users', 'flag ordered', undefined],
    ['identity.decided', { wallet, verified: true }, 'users', 'identity approved', undefined],
    ['identity.erased', { wallet, erasedAt: 'x' }, 'users', 'personal data erased', undefined],
    ['credit.due', { wallet, cycle: 1, kind: 'due' }, 'users', 'reminder of a due debt', undefined],
    ['credit.autorepay', { wallet, cycle: 1, outcome: 'repaid' }, 'users', 'debt repaid automatically', undefined],
    ['credit.autorepay', { wallet, cycle: 1, outcome: 'failed' }, 'users', 'debt not repaid automatically', undefined],
  ])('%s', (ending, payload, flow, words, item) => {
    const motion = feedEntryOf(subjectOf(ending), payload)
    expect(motion).toMatchObject({ flow, wallet, subject: subjectOf(ending) })
    expect(motion?.says).toContain(words)
    expect(motion?.item).toBe(item as string)
  })

  test('in words of its own for every subject of the catalogue, and in each flow that the page can show', () => {
    const told = topics.map(({ subject }) => feedEntryOf(subject.replace('>', 'ID.1'), {})!)
    const words = told.map(({ flow, says, subject }) => (flow === 'webhook' ? subject : says))
    expect(words.filter((one, at) => !one || words.indexOf(one) !== at)).toEqual([])
    expect([...new Set(told.map(({ flow }) => flow))].sort()).toEqual([...flows].sort())
  })

  test('with amounts as strings, of any size', () => {
    const fiat = '900719925474099312345'
    const motion = feedEntryOf(subjectOf('payments.paid'), { ...paid, fiat })
    expect(motion?.fiat).toEqual({ minor: fiat, currency: 'IDR' })
  })

  test.each([
    ['payments.review', paid],
    ['payouts.returned', out],
    ['relay.credit.failed', outcome],
  ])('%s as unusual', (ending, payload) => {
    expect(feedEntryOf(subjectOf(ending), payload)?.odd).toBe(true)
  })

  test.each([['nobody.knows', {}] as const, [subjectOf('payments.paid'), 'text'] as const])(
    'but leaves out %s with the payload %p',
    (subject, payload) => {
      expect(feedEntryOf(subject, payload)).toBeUndefined()
    },
  )
})

describe('security: the event feed shows only named fields of a message', () => {
  const body = JSON.stringify({
    event: 'payment.capture',
    data: {
      reference_id: `${paymentId}-suffix`,
      customer: { name: 'Sari Dewi' },
      iban: '99887766',
    },
  })
  test('the event and our reference of a payment webhook', () => {
    const subject = paymentsWebhookSubject('ID', 'payments', 'delivery-1')
    const motion = feedEntryOf(subject, { account: 'ID', deliveryId: 'delivery-1', body })
    expect(motion).toEqual({
      flow: 'webhook',
      subject: 'webhooks.payments',
      odd: false,
      item: paymentId,
      says: 'webhook payment.capture from ID',
    })
  })

  test("the wallet of an identity webhook, not the user's name", () => {
    const about = JSON.stringify({
      type: 'applicantReviewed',
      externalUserId: wallet,
      name: 'Sari',
    })
    const subject = identityWebhookSubject('sumsub', 'delivery-1')
    const motion = feedEntryOf(subject, { provider: 'sumsub', body: about })
    expect(motion).toMatchObject({ wallet, says: 'webhook applicantReviewed from sumsub' })
    expect(JSON.stringify(motion)).not.toContain('Sari')
  })

  test('the sender of a signed transfer, not the signature', () => {
    const signature = `0x${'cd'.repeat(65)}`
    const authorization = { from: wallet, to: wallet, value: '1', nonce: '0x1', signature }
    const motion = feedEntryOf(TakeOrdered.subject, { payoutId, authorization })
    expect(motion).toMatchObject({ wallet, item: payoutId })
    expect(JSON.stringify(motion)).not.toContain('cdcd')
  })

  test.each(['not json', '[]', 'null', '{"event":7}'])('a payment webhook with the body %p, as unknown', (raw) => {
    const subject = paymentsWebhookSubject('MY', 'payments', 'delivery-1')
    const motion = feedEntryOf(subject, { account: 'MY', body: raw })
    expect(motion?.says).toBe('webhook of an unknown kind from MY')
  })
})
