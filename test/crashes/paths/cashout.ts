import { ausdOf } from '../../support/ledger'
import { newUser } from '../../support/people'
import { cashoutBody, insist, refusedAccount } from '../../support/requests'
import { atTheBank, delivered, givenBack, taken } from '../boundaries'
import { type Path, rowOf, same, unheard } from '../path'
import { otherLists, type World } from '../world'

const takenMicro = 2_000_000n
const accounts = { paid: '1234567890', returned: refusedAccount }
type End = keyof typeof accounts

/** Returns the beginning of cash-outs; `meanwhile` runs once one is accepted. */
const cashOuts =
  (end: End, meanwhile?: (world: World, payoutId: string) => Promise<void>): Path['begin'] =>
  async (world) => {
    const { stack, sql, outside } = world
    const person = await newUser(stack, { ausdMicro: 1_000_000_000n })
    return async () => {
      const before = await ausdOf(stack, person.wallet)
      await person.me() // This request waits for the gateway, which may have been killed before.
      const terms = { accountNumber: accounts[end], ausdMicro: takenMicro }
      const body = await cashoutBody(stack, person, terms)
      return async () => {
        const { payoutId } = await insist(person, '/cashouts', body)
        await meanwhile?.(world, payoutId)
        await rowOf(
          `cash-out ${payoutId} to be ${end}`,
          () => sql`select id from payouts.payouts where id = ${payoutId} and state = ${end}`,
        )
        const { payouts = [] } = await outside.book()
        const transfers = payouts.filter(({ reference_id: of }) => of === payoutId)
        same('payouts at the provider', transfers.length, 1)
        const after = end === 'paid' ? before - takenMicro : before
        same('AUSD balance of the wallet', await ausdOf(stack, person.wallet), after)
      }
    }
  }

/** Makes the provider accept a payout and lose its response. */
async function unclear({ outside, sql }: World, payoutId: string): Promise<void> {
  await outside.faults({ api: { timeoutAfterAccept: 1 } })
  await rowOf('an attempt', () => sql`select id from payouts.payouts where id = ${payoutId} and attempts > 0`)
  await outside.faults({ api: { timeoutAfterAccept: 0 } })
}

export const cashoutPaths: readonly Path[] = [
  {
    kind: 'cashout',
    name: 'cash-out paid',
    inPairs: 'all',
    boundaries: [...taken, ...atTheBank, ...delivered('payouts'), 'payouts:published:payouts.paid'],
    begin: cashOuts('paid'),
  },
  {
    kind: 'cashout',
    name: 'cash-out returned',
    inPairs: givenBack,
    boundaries: [...taken, ...atTheBank, ...delivered('payouts'), ...givenBack],
    begin: cashOuts('returned'),
  },
  {
    kind: 'cashout',
    name: 'cash-out without webhooks',
    boundaries: [...taken, ...atTheBank, 'payouts:payout-found', 'payouts:return-ordered', ...givenBack],
    begin: unheard(cashOuts('returned')),
  },
  {
    kind: 'cashout',
    name: 'cash-out without a response',
    boundaries: ['payouts:before-provider', 'payouts:payout-looked-up', 'payouts:status-committed'],
    begin: unheard(cashOuts('paid', unclear)),
  },
  {
    kind: 'cashout',
    name: 'cash-out found in the list',
    terms: otherLists,
    boundaries: [...atTheBank, 'payouts:row-of-list-received', ...givenBack],
    begin: unheard(cashOuts('returned')),
  },
]
