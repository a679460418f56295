import { type Account, currencyOf } from './account'
import { type Context, nowText } from './context'
import { newId } from './ids'
import { majorFromMinor } from './money'
import type { HttpAnswer, ProviderCall, ProviderEndpoint } from './provider/endpoint'
import { Problem } from './provider/problem'
import { keptMinor } from './provider/transaction'
import { failedPayouts, type Payment, type Payout } from './records'

/** Endpoint of the balance. The real one needs the key permission `Balance Read`. */
export const balanceEndpoints: readonly ProviderEndpoint[] = [{ method: 'GET', path: '/balance', run: balance }]

const accountTypes: readonly string[] = ['CASH', 'HOLDING']

function balance(context: Context, { account, query }: ProviderCall): HttpAnswer {
  const type = query.get('account_type') ?? 'CASH'
  const currency = query.get('currency') ?? currencyOf[account]
  if (!accountTypes.includes(type))
    throw new Problem('API_VALIDATION_ERROR', 'request/query/account_type must be an allowed value')
  if (currency !== currencyOf[account])
    throw new Problem('API_VALIDATION_ERROR', `currency must be ${currencyOf[account]}`)
  const at = query.get('at_timestamp')
  const atMs = at === null ? undefined : Date.parse(at)
  if (Number.isNaN(atMs)) throw new Problem('API_VALIDATION_ERROR', 'request/query/at_timestamp must be a date-time')
  const minor = type === 'CASH' ? cashMinor(context, account, atMs) : 0n
  return { body: { balance: majorFromMinor(minor, currencyOf[account]) } }
}

const gone = ({ status }: Payout) => failedPayouts.some((failed) => failed === status)

const isVoided = ({ forced }: Payment) => forced?.listed === 'VOIDED' || forced?.listed === 'REVERSED'

/**
 * Returns the sum of movements that had started by `byMs`. They count with their final outcome; a payout starts with
 * its request.
 */
function movedMinor(context: Context, account: Account, byMs: number): bigint {
  const { book } = context
  const counts = (one: { account: Account; createdAt: string; capturedAt?: string | null }) =>
    one.account === account && Date.parse(one.capturedAt ?? one.createdAt) <= byMs
  let minor = -keptMinor(context, account, byMs)
  for (const one of book.all('payments'))
    if (counts(one) && one.status === 'SUCCEEDED' && !isVoided(one)) minor += one.capturedMinor
  for (const one of book.all('refunds')) if (counts(one) && one.status === 'SUCCEEDED') minor -= one.amountMinor
  for (const one of book.all('chargebacks')) if (counts(one) && one.status === 'SUCCESS') minor -= one.amountMinor
  for (const one of book.all('payouts')) if (counts(one) && !one.unfunded && !gone(one)) minor -= one.amountMinor
  for (const one of book.all('ownMoves')) if (counts(one)) minor += one.amountMinor
  return minor
}

export function cashMinor(context: Context, account: Account, atMs = Infinity): bigint {
  const floatMinor = account === 'ID' ? context.config.floatIdrMinor : 0n
  return floatMinor + movedMinor(context, account, atMs)
}

/** Sets the balance by a top-up or withdrawal of the account's owner that makes the difference. */
export function setCash(context: Context, account: Account, minor: bigint): void {
  const amountMinor = minor - cashMinor(context, account)
  if (amountMinor === 0n) return
  const createdAt = nowText(context)
  const id = newId(context, 'ownMove')
  context.book.save('ownMoves', { id, account, amountMinor, createdAt, updatedAt: createdAt })
}
