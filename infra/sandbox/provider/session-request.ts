import { type Account, currencyOf } from '../account'
import { findChannel } from '../channels/channels'
import { type Context, nowMs } from '../context'
import { newId, newSessionId } from '../ids'
import { isObject, type JsonObject } from '../json'
import { minorFromMajor } from '../money'
import type { PaymentSession } from '../records'
import { Problem } from './problem'
import { shapeOf } from './shape'

const minuteMs = 60_000
const defaultLifeMs = 30 * minuteMs
const countries = ['ID', 'PH', 'VN', 'TH', 'SG', 'MY'] as const
const currencies = ['IDR', 'PHP', 'VND', 'THB', 'SGD', 'MYR', 'USD'] as const
const echoedFields = ['items', 'metadata', 'notification_channels', 'channel_properties']

export function sessionFromRequest(context: Context, account: Account, body: JsonObject): PaymentSession {
  const fields = readFields(body)
  refuseUnsupported(account, fields)
  const amountMinor = minorFromMajor(fields.amount ?? 0, currencyOf[account])
  if (amountMinor === null) {
    throw new Problem('INVALID_AMOUNT', 'Amount has more decimals than the currency allows')
  }
  if (amountMinor === 0n) throw new Problem('INVALID_AMOUNT', 'Amount must be greater than zero')
  checkChannels(account, fields.channels, fields.captureMethod)
  checkMetadata(body.metadata)
  checkReturnUrls([fields.successReturnUrl, fields.cancelReturnUrl])
  const openedMs = nowMs(context)
  const now = new Date(openedMs).toISOString()
  return {
    id: newSessionId(context),
    account,
    status: 'ACTIVE',
    referenceId: fields.referenceId ?? '',
    amountMinor,
    captureMethod: fields.captureMethod,
    allowedChannels: fields.channels,
    ...customerFrom(context, account, body),
    description: fields.description,
    locale: fields.locale ?? 'en',
    successReturnUrl: fields.successReturnUrl,
    cancelReturnUrl: fields.cancelReturnUrl,
    echoed: Object.fromEntries(echoedFields.map((name) => [name, body[name] ?? null])),
    attempts: 0,
    requestId: null,
    paymentId: null,
    createdAt: now,
    updatedAt: now,
    expiresAt: expiryFrom(context, fields.expiresAt, openedMs),
  }
}

function readFields(body: JsonObject) {
  const shape = shapeOf(body)
  const fields = {
    referenceId: shape.text('reference_id', { required: true, max: 64 }),
    type: shape.word('session_type', ['PAY', 'SAVE', 'SUBSCRIPTION'], true),
    mode: shape.word('mode', ['PAYMENT_LINK', 'COMPONENTS', 'CARDS_SESSION_JS'], true),
    currency: shape.word('currency', currencies, true),
    country: shape.word('country', countries, true),
    amount: shape.number('amount', true),
    channels: shape.texts('allowed_payment_channels'),
    captureMethod: shape.word('capture_method', ['AUTOMATIC', 'MANUAL']) ?? 'AUTOMATIC',
    saving: shape.word('allow_save_payment_method', ['DISABLED', 'OPTIONAL', 'FORCED']),
    expiresAt: shape.text('expires_at'),
    locale: shape.text('locale'),
    description: shape.text('description', { max: 1000 }),
    successReturnUrl: shape.text('success_return_url'),
    cancelReturnUrl: shape.text('cancel_return_url'),
  }
  shape.done()
  return fields
}

function refuseUnsupported(account: Account, fields: ReturnType<typeof readFields>): void {
  const { type, mode, saving, currency, country } = fields
  if (type !== 'PAY') throw new Problem('SESSION_TYPE_NOT_SUPPORTED', `${type} is not supported`)
  if (mode !== 'PAYMENT_LINK') throw new Problem('MODE_NOT_SUPPORTED', `${mode} is not supported`)
  if (saving && saving !== 'DISABLED') {
    throw new Problem('MISSING_CUSTOMER', 'Saving a payment method is not supported here')
  }
  if (country !== account) {
    throw new Problem('INVALID_COUNTRY', `Country ${country} is not available for this account`)
  }
  if (currency !== currencyOf[account]) {
    throw new Problem('INVALID_CURRENCY', `Currency ${currency} is not available in ${country}`)
  }
}

function checkChannels(account: Account, codes: string[], captureMethod: string): void {
  const unknown = codes.filter((code) => !findChannel(account, code))
  if (unknown.length > 0) {
    const advice = 'Please ensure that you have activated the necessary channels'
    const message = `Channel(s) ${unknown.join(', ')} are not available. ${advice}`
    throw new Problem('INVALID_PAYMENT_CHANNEL', message)
  }
  if (captureMethod === 'MANUAL' && codes.length > 0 && !codes.includes('CARDS')) {
    throw new Problem('DISALLOWED_CAPTURE_METHOD', 'Only CARDS can be captured manually')
  }
}

// Checks metadata. The provider's schema and its error message differ; this is the stricter of the two.
function checkMetadata(metadata: unknown): void {
  if (metadata === undefined || metadata === null) return
  const fits =
    isObject(metadata) &&
    Object.keys(metadata).length <= 20 &&
    Object.entries(metadata).every(([key, value]) => key.length <= 40 && `${value}`.length <= 80)
  if (!fits) throw new Problem('INVALID_METADATA', 'Metadata holds at most 20 short entries')
}

function checkReturnUrls(urls: (string | null)[]): void {
  for (const url of urls) {
    if (url !== null && !isReturnUrl(url)) {
      throw new Problem('INVALID_URL', 'Please provide a valid HTTPS URL')
    }
  }
}

// The real provider refuses plain http. A local stack has no certificate, so this sandbox allows loopback addresses.
function isReturnUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  if (protocol === 'https:') return true
  return protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)
}

function expiryFrom({ config: { sessionLifeMinMs } }: Context, text: string | null, openedMs: number): string {
  if (text === null) return new Date(openedMs + defaultLifeMs).toISOString()
  const expiresMs = Date.parse(text)
  if (!(expiresMs >= openedMs + sessionLifeMinMs)) {
    const message = `expires_at must be at least ${sessionLifeMinMs / minuteMs} minutes in the future`
    throw new Problem('INVALID_EXPIRY_DATE', message)
  }
  return new Date(expiresMs).toISOString()
}

function customerFrom(context: Context, account: Account, body: JsonObject) {
  const { book } = context
  const shape = shapeOf(body)
  const given = shape.text('customer_id')
  const customer = shape.object('customer')
  shape.done()
  const mine = (s: PaymentSession) => s.account === account
  if (given !== null) {
    if (!given.startsWith('cust-')) {
      throw new Problem('INVALID_CUSTOMER_ID', 'customer_id must start with cust-')
    }
    if (!book.find('sessions', (s) => mine(s) && s.customerId === given)) {
      throw new Problem('DATA_NOT_FOUND', 'Customer not found')
    }
    return { customerId: given, customerReference: null }
  }
  if (body.customer === undefined || body.customer === null) {
    return { customerId: null, customerReference: null }
  }
  const inline = shapeOf(customer, '/body/customer')
  const reference = inline.text('reference_id', { required: true, max: 255 })
  inline.word('type', ['INDIVIDUAL'], true)
  const detail = inline.object('individual_detail', true)
  inline.done()
  const name = shapeOf(detail, '/body/customer/individual_detail')
  const names = [name.text('given_names', { required: true, max: 255 }), name.text('surname', { max: 255 })]
  name.done()
  if (book.find('sessions', (s) => mine(s) && s.customerReference === reference)) {
    const message = 'customer: The reference_id entered has been used before. Please enter a unique reference_id'
    throw new Problem('DUPLICATE_ERROR', message)
  }
  const payerName = names.filter((one) => one !== null).join(' ')
  return { customerId: newId(context, 'customer'), customerReference: reference, payerName }
}
