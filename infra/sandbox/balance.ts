import { type Account, currencyOf } from './account'
import { majorFromMinor } from './amount'
import type { Context } from './context'
import type { Endpoint, ProviderAnswer, ProviderCall } from './provider/door'
import { Problem } from './provider/problem'
import type { Payout } from './records'

/** What an account holds, the key's permission for which is `Balance Read`. */
export const balanceEndpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/balance', run: balance },
]

const accountTypes: readonly string[] = ['CASH', 'HOLDING']

function balance(context: Context, { account, query }: ProviderCall): ProviderAnswer {
  const type = query.get('account_type') ?? 'CASH'
  const currency = query.get('currency') ?? currencyOf[account]
  if (!accountTypes.includes(type))
    throw new Problem('API_VALIDATION_ERROR', 'request/query/account_type must be an allowed value')
  if (currency !== currencyOf[account])
    throw new Problem('API_VALIDATION_ERROR', `currency must be ${currencyOf[account]}`)
  const minor = type === 'CASH' ? cashMinor(context, account) : 0n
  return { body: { balance: majorFromMinor(minor, currencyOf[account]) } }
}

const gone = (status: Payout['status']) =>
  status === 'FAILED' || status === 'CANCELLED' || status === 'REVERSED'

/** What moved in and out of an account, in minor units: a payout is taken out when it is asked for. */
function movedMinor({ book }: Context, account: Account): bigint {
  let minor = 0n
  for (const one of book.all('payments'))
    if (one.account === account && one.status === 'SUCCEEDED') minor += one.capturedMinor
  for (const one of book.all('refunds'))
    if (one.account === account && one.status === 'SUCCEEDED') minor -= one.amountMinor
  for (const one of book.all('chargebacks'))
    if (one.account === account && one.status === 'SUCCESS') minor -= one.amountMinor
  for (const one of book.all('payouts'))
    if (one.account === account && !one.unfunded && !gone(one.status)) minor -= one.amountMinor
  return minor
}

/** What an account holds now, in minor units. */
export function cashMinor(context: Context, account: Account): bigint {
  const configured = account === 'ID' ? context.config.floatIdrMinor : 0n
  const float = context.book.get('floats', account)?.minor ?? configured
  return float + movedMinor(context, account)
}

/** From now on the account holds this much, whatever moved before. */
export function setCash(context: Context, account: Account, minor: bigint): void {
  context.book.save('floats', { id: account, minor: minor - movedMinor(context, account) })
}
