import { type Account, currencyOf } from '../account'
import { type Bank, banks } from '../channels/bank'
import { type Context, nowText } from '../context'
import { newId } from '../ids'
import { isObject, type JsonObject } from '../json'
import { minorFromMajor } from '../money'
import type { Payout } from '../records'
import { Problem } from './problem'
import { shapeOf } from './shape'

const accountTypes = ['BANK_ACCOUNT', 'MOBILE_NO', 'NATIONAL_ID', 'PASSPORT', 'BUSINESS_REGISTRATION'] as const
const echoedFields = ['description', 'receipt_notification', 'metadata']

export function payoutFromRequest(
  context: Context,
  account: Account,
  idempotencyKey: string,
  body: JsonObject,
): Payout {
  const now = nowText(context)
  const shape = shapeOf(body)
  const referenceId = shape.text('reference_id', { required: true, max: 255 })
  const channelCode = shape.text('channel_code', { required: true })
  const properties = shape.object('channel_properties', true)
  const amount = shape.number('amount', true)
  const currency = shape.text('currency', { required: true })
  shape.text('description', { max: 100 })
  shape.done()
  const inner = shapeOf(properties, '/body/channel_properties')
  const accountNumber = inner.text('account_number', { required: true, max: 100 })
  const accountHolderName = inner.text('account_holder_name', { required: true, max: 100 })
  inner.word('account_type', accountTypes)
  inner.done()
  if (currency !== currencyOf[account]) {
    throw new Problem('API_VALIDATION_ERROR', `currency must be ${currencyOf[account]}`)
  }
  const bank = banks.find(({ code }) => code === channelCode)
  if (!bank) throw new Problem('CHANNEL_CODE_NOT_SUPPORTED', 'The channel code is not supported')
  return {
    id: newId(context, 'payout'),
    account,
    idempotencyKey,
    canonicalBody: canonical(body),
    replays: 0,
    referenceId: referenceId ?? '',
    channelCode: bank.code,
    accountNumber: accountNumber ?? '',
    accountHolderName: accountHolderName ?? '',
    amountMinor: amountFor(bank, amount ?? 0, account),
    echoed: Object.fromEntries(echoedFields.filter((name) => name in body).map((name) => [name, body[name]])),
    status: 'ACCEPTED',
    failureCode: null,
    createdAt: now,
    updatedAt: now,
  }
}

function amountFor(bank: Bank, amount: number, account: Account): bigint {
  const amountMinor = minorFromMajor(amount, currencyOf[account])
  if (amountMinor === null) {
    throw new Problem('AMOUNT_INCREMENT_NOT_SUPPORTED', 'The amount increment is not supported')
  }
  refuseOutside(bank, amountMinor)
  return amountMinor
}

export function refuseOutside(bank: Bank, amountMinor: bigint): void {
  if (amountMinor === 0n || amountMinor < bank.minMinor) {
    const message = `The amount is below the minimum of ${bank.minMinor}`
    throw new Problem('MINIMUM_TRANSFER_LIMIT_ERROR', message)
  }
  if (amountMinor > bank.maxMinor) {
    const message = `The amount is above the maximum of ${bank.maxMinor}`
    throw new Problem('MAXIMUM_TRANSFER_LIMIT_ERROR', message)
  }
}

/** Returns JSON with sorted keys, which is equal for equal requests. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}
