import { patienceMs, waitUntil } from '#infra/local/wait'
import { asObject } from '#platform/schema'
import { parsePersona } from '../../services/gateway/identity/providers/persona/webhook'
import { parseSumsub } from '../../services/gateway/identity/providers/sumsub/webhook'
import type { PaymentProvider } from '../../services/payments/provider'
import { readDelivery as readByPayments } from '../../services/payments/providers/xendit/delivery'
import type { PayoutProvider } from '../../services/payouts/provider'
import { readDelivery as readByPayouts } from '../../services/payouts/providers/xendit/delivery'
import { payoutBody, type SandboxFixture, sessionBody } from '../support/sandbox'

export type Body = Readonly<Record<string, unknown>>

/** The production clients, asking a server that returns this object to every request. */
export type Clients = { readonly payments: PaymentProvider; readonly payouts: PayoutProvider }
type Asking = (object: unknown) => Clients

/** Form of a body on the wire. */
export type Form = {
  readonly name: string
  /** Files of `test/recorded` with bodies of this form, none if nobody published one. */
  readonly recorded: readonly string[]
  /** Makes the sandbox send or return the body. */
  readonly play: (sandbox: SandboxFixture) => Promise<Body>
  /** Returns the result of production code that reads the body. */
  readonly read: (body: Body, asking: Asking) => unknown
  readonly means: unknown
  /** Fields of every recorded body that the sandbox leaves out or has with another type, with the reason. */
  readonly differs?: Readonly<Record<string, string>>
}

const textOf = (body: Body) => JSON.stringify(body)

/** Returns the object of a webhook, which may be in a second envelope. */
export const objectIn = ({ data }: Body): Body => asObject(asObject(data)?.data) ?? asObject(data) ?? {}

// ---- the sandbox's part

const open = async (sandbox: SandboxFixture): Promise<string> =>
  (await sandbox.call('ID', '/sessions', sessionBody())).json.payment_session_id

async function pay(sandbox: SandboxFixture, channel_code: string): Promise<string> {
  const { json } = await sandbox.control(`sessions/${await open(sandbox)}/pay`, { channel_code })
  return json.payment_id
}

/** Returns the newest webhook about an event, after `happens`. */
const heard =
  (event: string, happens: (sandbox: SandboxFixture) => Promise<unknown>) => async (sandbox: SandboxFixture) => {
    await happens(sandbox)
    return (await sandbox.events(event)).at(-1)!.json as Body
  }

const refund = (body: object) => async (sandbox: SandboxFixture) =>
  sandbox.control(`payments/${await pay(sandbox, 'DANA')}/refund`, body)

const payOut = async (sandbox: SandboxFixture, accountNumber?: string) => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  return (await sandbox.call('ID', '/v2/payouts', payoutBody(accountNumber), headers)).json
}

const payOutByV3 = (sandbox: SandboxFixture) =>
  sandbox.call(
    'ID',
    '/v3/payouts',
    {
      reference_id: 'wd-1',
      recipient: {
        type: 'INDIVIDUAL',
        relationship: 'CUSTOMER',
        address: { country: 'ID' },
        account_details: {
          account_holder_name: 'SARI DEWI',
          account_number: '1234567890',
          routing_type_1: 'SWIFT',
          routing_value_1: 'BTANIDJA',
        },
      },
      payout_details: { source_currency: 'IDR', destination_currency: 'IDR', destination_amount: 50_000 },
      source_of_fund: 'BUSINESS_REVENUE',
      purpose_code: 'OTHER',
    },
    { 'api-version': '2025-09-09', 'idempotency-key': crypto.randomUUID() },
  )

const decide = (provider: 'sumsub' | 'persona', verdict: string) => async (sandbox: SandboxFixture) => {
  const wallet = `0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`
  await sandbox.control(`identity/${wallet}`, { verdict, provider })
  const about = () => sandbox.received.find(({ text }) => text.includes(wallet))
  return (await waitUntil('the webhook', about, patienceMs, 5)).json as Body
}

// ---- the part of production code: it reads the webhook, then looks its object up

async function checkout(body: Body, asking: Asking) {
  const hint = readByPayments(textOf(body)) as { about: string; checkoutId: string }
  return [hint.about, (await asking(objectIn(body)).payments.findCheckout('ID', hint.checkoutId))?.status]
}
async function charge(body: Body, asking: Asking) {
  const hint = readByPayments(textOf(body)) as { about: string; paymentId: string }
  return [hint.about, (await asking(objectIn(body)).payments.findCharge('ID', hint.paymentId))?.status]
}
async function returned(body: Body, asking: Asking) {
  const hint = readByPayments(textOf(body)) as { about: string; refundId: string }
  return [hint.about, (await asking(objectIn(body)).payments.findRefund('ID', hint.refundId))?.status]
}
async function payout(body: Body, asking: Asking) {
  const hint = readByPayouts(textOf(body)) as { about: string; payoutId: string }
  const status = (await asking(objectIn(body)).payouts.find(hint.payoutId))?.status
  return [readByPayments(textOf(body)).about, hint.about, status]
}
function verdict(read: ReturnType<typeof parseSumsub>) {
  if ('fault' in read) return read.fault
  const { word, isFinal = false } = 'statement' in read ? read.statement : read.undated
  return isFinal ? `${word} for good` : word
}
const bySumsub = (body: Body) => verdict(parseSumsub(textOf(body)))
const byPersona = (body: Body) => verdict(parsePersona(textOf(body), true))

// ---- the table

export const forms: readonly Form[] = [
  {
    name: 'an open session that GET /sessions/{id} returns',
    recorded: ['payments/session-get'],
    play: async (sandbox) => (await sandbox.get('ID', `/sessions/${await open(sandbox)}`)).json,
    read: async (body, asking) => {
      const found = await asking(body).payments.findCheckout('ID', String(body.payment_session_id))
      return [found?.status, found?.paymentId, found?.paymentRequestId]
    },
    means: ['open', null, null],
    differs: {
      amount: 'the Markdown export of the page quotes its numbers',
    },
  },
  {
    name: 'payment_session.completed',
    recorded: ['payments/session-completed', 'payments/session-completed-dashboard'],
    play: heard('payment_session.completed', (sandbox) => pay(sandbox, 'QRIS')),
    read: checkout,
    means: ['checkout', 'completed'],
  },
  {
    name: 'payment_session.expired',
    recorded: ['payments/session-expired'],
    play: heard('payment_session.expired', async (sandbox) =>
      sandbox.control(`sessions/${await open(sandbox)}/expire`),
    ),
    read: checkout,
    means: ['checkout', 'closed'],
  },
  {
    name: 'payment.capture',
    recorded: [
      'payments/payment-capture-virtual-account',
      'payments/payment-capture-paymaya',
      'payments/payment-capture-card',
    ],
    play: heard('payment.capture', (sandbox) => pay(sandbox, 'BCA_VIRTUAL_ACCOUNT')),
    read: charge,
    means: ['payment', 'succeeded'],
  },
  {
    name: 'payment.authorization',
    recorded: ['payments/payment-authorization-card'],
    play: heard('payment.authorization', async (sandbox) =>
      sandbox.control(`sessions/${await open(sandbox)}/authorize`, { channel_code: 'CARDS' }),
    ),
    read: charge,
    means: ['payment', 'pending'],
    differs: {
      'data.customer_id': 'our sessions name no customer',
      'data.description': 'nor a description',
      'data.channel_properties.failure_return_url': 'the addresses are those of the session',
      'data.channel_properties.success_return_url': 'the addresses are those of the session',
    },
  },
  {
    name: 'refund.succeeded',
    recorded: ['payments/refund-succeeded'],
    play: heard('refund.succeeded', refund({})),
    read: returned,
    means: ['refund', 'succeeded'],
  },
  {
    name: 'refund.failed',
    recorded: ['payments/refund-failed'],
    play: heard('refund.failed', refund({ failure_code: 'REFUND_FAILED' })),
    read: returned,
    means: ['refund', 'dead'],
  },
  {
    name: 'payout.succeeded',
    recorded: ['payments/payout-succeeded-v2'],
    play: heard('payout.succeeded', payOut),
    read: payout,
    means: ['payout', 'payout', 'succeeded'],
    differs: { 'data.business_id': 'webhooks were observed without it' },
  },
  {
    name: 'payout.failed',
    recorded: [],
    play: heard('payout.failed', (sandbox) => payOut(sandbox, '999999')),
    read: payout,
    means: ['payout', 'payout', 'refused'],
  },
  {
    name: 'payout.reversed',
    recorded: [],
    play: heard('payout.reversed', (sandbox) => payOut(sandbox, '654321')),
    read: payout,
    means: ['payout', 'payout', 'reversed'],
  },
  {
    name: 'v3_payout.succeeded',
    recorded: ['payments/payout-succeeded-v3'],
    play: heard('v3_payout.succeeded', payOutByV3),
    read: payout,
    means: ['payout', 'payout', 'succeeded'],
  },
  {
    name: 'a new payout that GET /v2/payouts/{id} returns',
    recorded: ['payments/payout-v2-get'],
    play: async (sandbox) => (await sandbox.get('ID', `/v2/payouts/${(await payOut(sandbox, '131313')).id}`)).json,
    read: async (body, asking) => (await asking(body).payouts.find(String(body.id)))?.status,
    means: 'pending',
  },
  {
    name: 'the list of transactions',
    recorded: ['payments/transactions-list'],
    play: async (sandbox) => {
      await pay(sandbox, 'DANA')
      return (await sandbox.get('ID', '/transactions?types=PAYMENT&limit=50')).json
    },
    read: async (body, asking) => {
      const rows = await asking(body).payments.listTransactions('ID', Date.now())
      return [...new Set(rows.map(({ type, status }) => `${type} ${status}`))]
    },
    means: ['payment succeeded'],
  },
  {
    name: 'applicantReviewed, green',
    recorded: ['identity/sumsub-reviewed-green'],
    play: decide('sumsub', 'approved'),
    read: bySumsub,
    means: 'approved',
  },
  {
    name: 'applicantReviewed, red and final',
    recorded: ['identity/sumsub-reviewed-red-final'],
    play: decide('sumsub', 'rejected'),
    read: bySumsub,
    means: 'rejected for good',
  },
  {
    name: 'applicantReviewed, red and to be repeated',
    recorded: ['identity/sumsub-reviewed-red-retry'],
    play: decide('sumsub', 'retry'),
    read: bySumsub,
    means: 'resubmit',
    differs: { sourceKey: 'an account without sources has no key of one' },
  },
  {
    name: 'applicantAwaitingService, green',
    recorded: [],
    play: decide('sumsub', 'awaiting_service'),
    read: bySumsub,
    means: 'none',
  },
  {
    name: 'applicantPending',
    recorded: ['identity/sumsub-pending'],
    play: decide('sumsub', 'pending'),
    read: bySumsub,
    means: 'none',
  },
  {
    name: 'applicantReset',
    recorded: ['identity/sumsub-reset'],
    play: decide('sumsub', 'reset'),
    read: bySumsub,
    means: 'reset',
    differs: { 'reviewResult.reviewAnswer': 'a review that begins again has no answer' },
  },
  {
    name: 'inquiry.approved',
    recorded: ['identity/persona-inquiry-approved', 'identity/persona-inquiry-approved-fields'],
    play: decide('persona', 'approved'),
    read: byPersona,
    means: 'approved',
    differs: {
      'data.attributes.payload.data.relationships.template.data.id': 'the template is an inquiry template',
      'data.attributes.payload.data.relationships.template.data.type': 'the template is an inquiry template',
    },
  },
  {
    name: 'inquiry.declined',
    recorded: [],
    play: decide('persona', 'rejected'),
    read: byPersona,
    means: 'rejected',
  },
  {
    name: 'inquiry.marked-for-review',
    recorded: [],
    play: decide('persona', 'retry'),
    read: byPersona,
    means: 'none',
  },
]
