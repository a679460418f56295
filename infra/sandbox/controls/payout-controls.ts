import type { Context } from '../context'
import { movePayout, payoutBody } from '../provider/payout'
import type { Payout } from '../records'
import { type Control, optionalText, Refusal } from './control'

/** Controls that play the receiving bank. */
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
      return payoutBody(movePayout(context, payoutIn(context, id, underway), 'FAILED', failureCode))
    },
  },
  {
    method: 'POST',
    path: '/control/payouts/:id/reverse',
    run: (id) => payoutBody(movePayout(context, payoutIn(context, id, ['SUCCEEDED']), 'REVERSED')),
  },
]

const underway: Payout['status'][] = ['ACCEPTED', 'REQUESTED']

function payoutIn({ book }: Context, id: string, states: Payout['status'][]): Payout {
  const payout = book.get('payouts', id) ?? book.find('payouts', (p) => p.referenceId === id)
  if (!payout) throw new Refusal(404, 'no such payout')
  if (states.includes(payout.status)) return payout
  throw new Refusal(409, `the payout is ${payout.status}`)
}
