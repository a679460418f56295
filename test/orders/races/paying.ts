import type { CashoutState } from '../../../services/payouts/cashout'
import type { Cashout } from '../../../services/payouts/cashout.table'
import { payAgain, payTaken } from '../../../services/payouts/paying/pay'
import { type Bank, evidenceOf, lookAtCashout, newCashout, openBank, openPayouts } from '../copies/payouts'
import { failures, type Race } from '../race'

// Two instances work on one cash-out, from the taken AUSD to the bank or back.

type Copy = ReturnType<typeof openPayouts>
type Work = (copy: Copy, cashout: Cashout) => Promise<unknown>
type CashoutView = Awaited<ReturnType<typeof lookAtCashout>>

function paying(options: {
  name: string
  from: CashoutState
  before?: (bank: Bank, cashout: Cashout) => void
  works: readonly [Work, Work]
  ends: readonly string[]
  also?: (seen: CashoutView, bank: Bank) => readonly (string | false)[]
}): Race {
  const { name, from, before, works, ends, also = () => [] } = options
  return {
    name,
    open: async ({ sides, db }) => {
      const bank = openBank()
      const copies = sides.map((side) => openPayouts(side, bank))
      return async () => {
        const cashout = await newCashout(db, from)
        before?.(bank, cashout)
        return {
          works: [() => works[0](copies[0]!, cashout), () => works[1](copies[1]!, cashout)],
          judge: async (results) => {
            const seen = await lookAtCashout(db, cashout.id)
            const { row, subjects, called, missing } = seen
            const asks = called.map((kind) => `alert: ${kind}`)
            const outcome = [row.state, ...subjects.toSorted(), ...asks].join(', ')
            const wrong = [...failures(results, ['done', undefined]), ...also(seen, bank).filter((it) => it !== false)]
            if (!ends.includes(outcome)) wrong.push(`it ended as ${outcome}`)
            if (missing.length > 0) wrong.push('the books do not match the row')
            return { outcome, wrong }
          },
        }
      }
    },
  }
}

const transfers = (bank: Bank, { row }: CashoutView) => bank.accepted.get(row.id)?.length ?? 0

/** Makes the bank answer the two instances differently, because one of them asked a moment earlier. */
const says =
  (left: 'succeeded', right: 'reversed' | 'refused') =>
  ({ says: said }: Bank, { id }: Cashout) => {
    said.set(`A disb-${id}`, evidenceOf(id, left))
    said.set(`B disb-${id}`, evidenceOf(id, right))
  }
const hears: Work = (copy, { id }) => copy.deliver(`disb-${id}`, `${id} ${crypto.randomUUID()}`)

export const payingRaces: readonly Race[] = [
  // guard: one transaction at a time decides about a cash-out
  // together with: a cash-out moves only from a state that allows the step
  paying({
    name: 'a final take, reported twice',
    from: 'taking',
    works: [({ told }, { id }) => told('take.settled', id), ({ told }, { id }) => told('take.settled', id)],
    ends: ['taken, payouts.taken'],
  }),
  // guard: one transaction at a time decides about a cash-out
  // guard: a cash-out moves only from a state that allows the step
  paying({
    name: 'a failed take that arrives late',
    from: 'taking',
    works: [({ told }, { id }) => told('take.failed', id), ({ told }, { id }) => told('take.settled', id)],
    ends: ['taken, payouts.taken', 'returning, payouts.taken, relay.return'],
  }),
  // guard: a cash-out moves only from a state that allows the step
  paying({
    name: 'the pay order of one cash-out, by two instances',
    from: 'taken',
    works: [({ context }, cashout) => payTaken(context, cashout), ({ context }, cashout) => payTaken(context, cashout)],
    ends: ['paying'],
    also: (seen, bank) => [transfers(bank, seen) !== 1 && `${transfers(bank, seen)} orders to pay`],
  }),
  // guard: one transaction at a time decides about a cash-out
  paying({
    name: 'the bank refuses one order while another is in progress',
    from: 'paying',
    before: (bank) => {
      bank.refusing = { A: 'destination_wrong' }
    },
    works: [({ context }, cashout) => payAgain(context, cashout), ({ context }, cashout) => payAgain(context, cashout)],
    ends: ['paying', 'returning, relay.return'],
    also: (seen, bank) => [seen.row.state === 'returning' && transfers(bank, seen) > 0 && 'paid, and given back'],
  }),
  // guard: one transaction at a time decides about a cash-out
  paying({
    name: 'a paid payout and its reversal',
    from: 'paying',
    before: says('succeeded', 'reversed'),
    works: [hears, hears],
    ends: ['returning, payouts.paid, relay.return', 'returning, relay.return'],
  }),
  // guard: one transaction at a time decides about a cash-out
  paying({
    name: 'the provider returns paid to one instance and failed to the other',
    from: 'paying',
    before: says('succeeded', 'refused'),
    works: [hears, hears],
    ends: ['paid, payouts.paid, alert: payout_differs', 'returning, relay.return, alert: paid_and_returned'],
  }),
]
