import { accounts, currencyOf } from '../account'
import { cashMinor, setCash } from '../balance'
import { type Context, nowText } from '../context'
import { majorFromMinor, minorFromMajor } from '../money'
import { movePayout, payoutBody } from '../provider/payout'
import { failedPayouts, type Payout } from '../records'
import { type Control, forcedIn, optionalText, Refusal } from './control'

export const payoutControls = (context: Context): Control[] => [
  {
    method: 'POST',
    path: '/control/payouts/:id/succeed',
    run: (id) => payoutBody(movePayout(context, payoutIn(context, id, underway), 'SUCCEEDED')),
  },
  {
    method: 'POST',
    path: '/control/payouts/:id/fail',
    run(id, body) {
      const failureCode = optionalText(body, 'failure_code') ?? 'REJECTED_BY_CHANNEL'
      const asked = optionalText(body, 'status') ?? 'FAILED'
      const status = failedPayouts.find((one) => one === asked)
      if (!status) throw new Refusal(400, `status must be one of ${failedPayouts}`)
      const payout = payoutIn(context, id, [...underway, 'SUCCEEDED'])
      return payoutBody(movePayout(context, payout, status, status === 'FAILED' ? failureCode : null))
    },
  },
  {
    method: 'POST',
    path: '/control/payouts/:id/tell',
    run(id, body) {
      const change = { forced: forcedIn(body), updatedAt: nowText(context) }
      return payoutBody(context.book.save('payouts', { ...payoutIn(context, id), ...change }))
    },
  },
  {
    method: 'POST',
    path: '/control/payouts/:id/reverse',
    run: (id) => payoutBody(movePayout(context, payoutIn(context, id, ['SUCCEEDED']), 'REVERSED')),
  },
  { method: 'GET', path: '/control/balance', run: () => balances(context) },
  {
    method: 'POST',
    path: '/control/balance',
    run(_id, body) {
      const account = accounts.find((one) => one === (body.account ?? 'ID'))
      if (!account) throw new Refusal(400, `account must be one of ${accounts}`)
      const amount = typeof body.amount === 'number' ? body.amount : Number.NaN
      const minor = minorFromMajor(amount, currencyOf[account])
      if (minor === null) throw new Refusal(400, 'amount must be a number in major units of the currency')
      setCash(context, account, minor)
      return balances(context)
    },
  },
]

const balances = (context: Context) =>
  Object.fromEntries(
    accounts.map((account) => [account, majorFromMinor(cashMinor(context, account), currencyOf[account])]),
  )

const underway: Payout['status'][] = ['ACCEPTED', 'REQUESTED']

function payoutIn({ book }: Context, id: string, states?: Payout['status'][]): Payout {
  const payout = book.get('payouts', id) ?? book.find('payouts', (p) => p.referenceId === id)
  if (!payout) throw new Refusal(404, 'no such payout')
  if (!states || states.includes(payout.status)) return payout
  throw new Refusal(409, `the payout is ${payout.status}`)
}
