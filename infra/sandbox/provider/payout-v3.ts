import { currencyOf } from '../account'
import { banks } from '../channels/bank'
import { swiftCodes } from '../channels/swift'
import { type Context, nowText } from '../context'
import { newId, newUuid } from '../ids'
import type { Payout } from '../records'
import type { HttpAnswer, ProviderCall, ProviderEndpoint } from './endpoint'
import { openPayout, payoutV3Body } from './payout'
import { refuseClosed } from './payout-endpoints'
import { canonical, refuseOutside } from './payout-request'
import { Problem } from './problem'
import { shapeOf } from './shape'

const routingTypes = [
  'SWIFT',
  'IBAN',
  'SORT_CODE',
  'ABA',
  'BSB',
  'WALLET',
  'CLABE',
  'MOBILE_NO',
  'BUSINESS_REG_NO',
  'NATIONAL_ID',
]

/** Endpoints of payouts v3. Payouts and keys of one version are unknown to the other. */
export const payoutV3Endpoints: readonly ProviderEndpoint[] = [
  { method: 'POST', path: '/v3/payouts', run: create },
  { method: 'GET', path: '/v3/payouts', run: list },
  {
    method: 'GET',
    path: '/v3/payouts/:id',
    run: (context, call) => ({ body: payoutV3Body(ownPayout(context, call)) }),
  },
]

function create(context: Context, call: ProviderCall): HttpAnswer {
  const { account, headers, body } = call
  refuseOtherVersion(call)
  if (account !== 'ID') throw new Problem('REQUEST_FORBIDDEN_ERROR', 'This API key cannot create payouts')
  const key = headers.get('idempotency-key') ?? newUuid(context.ids)
  if (key.length > 100) throw new Problem('API_VALIDATION_ERROR', 'request/headers idempotency-key is too long')
  const known = context.book.find(
    'payouts',
    (one) => one.account === account && one.version === 3 && one.idempotencyKey === key,
  )
  if (known && known.canonicalBody !== canonical(body))
    throw new Problem('DUPLICATE_ERROR', 'A payout with this idempotency key already exists.')
  if (known) {
    const replayed = context.book.save('payouts', { ...known, replays: known.replays + 1 })
    return { body: payoutV3Body(replayed) }
  }
  const asked = payoutFrom(context, call, key)
  refuseClosed(context, asked)
  return { body: payoutV3Body(openPayout(context, asked)) }
}

function payoutFrom(context: Context, { account, body }: ProviderCall, key: string): Payout {
  const shape = shapeOf(body)
  const referenceId = shape.text('reference_id', { required: true, max: 255 })
  const recipient = shape.object('recipient', true)
  const details = shape.object('payout_details', true)
  shape.text('source_of_fund', { required: true })
  shape.text('purpose_code', { required: true })
  shape.done()
  const person = shapeOf(recipient, '/body/recipient')
  person.word('type', ['INDIVIDUAL', 'BUSINESS'], true)
  person.text('relationship', { required: true })
  const held = person.object('account_details', true)
  person.object('address', true)
  person.done()
  const bankAccount = shapeOf(held, '/body/recipient/account_details')
  const accountNumber = bankAccount.text('account_number', { required: true, max: 100 })
  const accountHolderName = bankAccount.text('account_holder_name', { required: true, max: 100 })
  bankAccount.word('routing_type_1', routingTypes, true)
  const swift = bankAccount.text('routing_value_1', { required: true })
  bankAccount.done()
  const money = shapeOf(details, '/body/payout_details')
  const sent = money.number('source_amount')
  const arriving = money.number('destination_amount', sent === null)
  const currencies = ['source_currency', 'destination_currency'].map((name) => money.text(name, { required: true }))
  money.done()
  if (sent !== null && arriving !== null)
    throw new Problem('API_VALIDATION_ERROR', 'Only one of both amounts may be given')
  const amount = arriving ?? sent ?? 0
  const bank = banks.find(({ code }) => swiftCodes.get(code) === swift)
  const isLocal = currencies.every((currency) => currency === currencyOf[account])
  if (!bank || !isLocal || !Number.isSafeInteger(amount) || amount < 1)
    throw new Problem('INVALID_VALUE_ERROR', 'The bank, the currency or the amount is not valid')
  refuseOutside(bank, BigInt(amount))
  const now = nowText(context)
  return {
    id: newId(context, 'payoutV3'),
    version: 3,
    account,
    idempotencyKey: key,
    replays: 0,
    canonicalBody: canonical(body),
    referenceId: referenceId ?? '',
    channelCode: bank.code,
    accountNumber: accountNumber ?? '',
    accountHolderName: accountHolderName ?? '',
    amountMinor: BigInt(amount),
    echoed: {},
    status: 'ACCEPTED',
    failureCode: null,
    createdAt: now,
    updatedAt: now,
  }
}

function list({ book }: Context, call: ProviderCall): HttpAnswer {
  refuseOtherVersion(call)
  const referenceId = call.query.get('reference_id')
  if (!referenceId) throw new Problem('API_VALIDATION_ERROR', 'reference_id is required')
  const data = book
    .all('payouts')
    .filter((one) => one.account === call.account && one.version === 3)
    .filter((one) => one.referenceId === referenceId)
    .map(payoutV3Body)
  return { body: { has_more: false, data } }
}

function ownPayout({ book }: Context, call: ProviderCall): Payout {
  refuseOtherVersion(call)
  const payout = book.get('payouts', call.id('payoutV3'))
  if (payout?.account !== call.account) throw new Problem('DATA_NOT_FOUND', 'Payout not found')
  return payout
}

function refuseOtherVersion({ headers }: ProviderCall): void {
  if (!/^2025-09-0[19]$/.test(headers.get('api-version') ?? ''))
    throw new Problem('API_VALIDATION_ERROR', 'request/headers api-version is required')
}
