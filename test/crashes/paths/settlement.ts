import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { openSettlement, topUp } from '../../support/flows'
import { timesOf } from '../../support/ledger'
import { insist } from '../../support/requests'
import { checkedOut, delivered, heldToTheEnd, repaid } from '../boundaries'
import { type Path, patienceMs, paymentIn, quoteOf, rowOf, same, settledUser } from '../path'

const drawnMicro = 2_000_000n

async function borrower(world: Parameters<Path['begin']>[0]): Promise<Person> {
  const person = await settledUser(world, { wei: 10n ** 20n })
  const { id } = await topUp(world.stack, person, { amount: '5000000' })
  await paymentIn(world, id, 'credited')
  return person
}

/** Returns the beginning of settlements, each of which repays a debt once; held ones run to the end of the hold. */
const settlements =
  (channel: string, replaces = false): Path['begin'] =>
  async (world) => {
    const { stack, outside, sql } = world
    const shared = await borrower(world)
    return async () => {
      // A wallet may leave at most ten checkouts unpaid in an hour.
      const person = replaces ? await borrower(world) : shared
      await person.draw(drawnMicro)
      const owed = async () => (await person.me()).drawn === String(drawnMicro)
      await waitUntil('the debt to be final', owed, patienceMs, 100)
      const earlier = replaces ? await openSettlement(person) : undefined
      if (earlier) {
        await person.draw(1_000_000n)
        const owesMore = async () => (await person.me()).drawn === String(drawnMicro + 1_000_000n)
        await waitUntil('the larger debt to be final', owesMore, patienceMs, 100)
      }
      const quoteId = await quoteOf(person)
      return async () => {
        const { paymentId } = await insist(person, '/settlements', { quoteId })
        await outside.pay(paymentId, channel)
        await rowOf(
          `${paymentId} to be repaid`,
          () => sql`
            select id from payments.payments where id = ${paymentId} and state = 'repaid'
            and (not held or hold_ended_at is not null)`,
        )
        same('repayments', await timesOf(stack, 'Repaid', paymentId), 1)
        if (earlier) await paymentIn(world, earlier.paymentId, 'replaced')
      }
    }
  }

const byBank = 'BCA_VIRTUAL_ACCOUNT'
const paid = [...delivered('payments'), ...repaid]
const told = [...checkedOut(), ...paid]

export const settlementPaths: readonly Path[] = [
  {
    kind: 'settlement',
    name: 'settlement by bank',
    inPairs: 'all',
    boundaries: told,
    begin: settlements(byBank),
  },
  {
    kind: 'settlement',
    name: 'settlement by card, held',
    inPairs: heldToTheEnd,
    boundaries: [...told, ...heldToTheEnd],
    begin: settlements('CARDS'),
  },
  {
    kind: 'settlement',
    name: 'settlement that replaces another',
    boundaries: [...checkedOut(['payments:checkout-ended', 'payments:checkout-end-stored']), ...paid],
    begin: settlements(byBank, true),
  },
]
