import { waitUntil } from '#infra/local/wait'
import { topUp } from '../../support/flows'
import { creditsOf } from '../../support/ledger'
import { credited, delivered, heldToTheEnd, relayed, toppedUp } from '../boundaries'
import { type Path, paymentIn, quoteOf, rowOf, same, settledUser, unheard } from '../path'
import { otherLists, type World } from '../world'

const [atOnce, byCard] = ['QRIS', 'CARDS']

/** Returns the beginning of top-ups, each credited once; `meanwhile` runs after the payment. */
const topups =
  (channel: string, meanwhile?: (world: World, paymentId: string) => Promise<void>): Path['begin'] =>
  async (world) => {
    const person = await settledUser(world)
    return async () => {
      const quoteId = await quoteOf(person)
      return async () => {
        const { id, micro } = await topUp(world.stack, person, { channel, quoteId })
        await meanwhile?.(world, id)
        await paymentIn(world, id, 'credited')
        const credits = await creditsOf(world.stack, id)
        same('credits', credits.length, 1)
        same('amount credited', credits[0]!.ausdMicro, micro)
      }
    }
  }

/**
 * Makes the provider fail until the hold is extended. If the extending process was killed, it fails for 15 s: then the
 * hold expires, and its check waits for the provider.
 */
async function silence({ outside, sql }: World, paymentId: string): Promise<void> {
  const held = () => sql`
    select id from payments.payments where id = ${paymentId} and state = 'held'`
  const extended = () => sql`
    select id from chain_relayer.operation
    where kind = 'extend' and cause like ${`${paymentId}%`} and state = 'settled'`
  await rowOf('the hold', held)
  await outside.faults({ api: { errorRate: 1 } })
  await waitUntil('the extension', async () => (await extended()).length > 0, 15_000).catch(() => {})
  await outside.calm()
}

const told = [...toppedUp, ...delivered('payments'), ...credited]

export const topupPaths: readonly Path[] = [
  { kind: 'topup', name: 'top-up by QR', boundaries: told, begin: topups(atOnce) },
  {
    kind: 'topup',
    name: 'top-up by card, held',
    boundaries: [...told, ...heldToTheEnd],
    begin: topups(byCard),
  },
  {
    kind: 'topup',
    name: 'top-up with an extended hold',
    boundaries: ['payments:extension-ordered', ...relayed('payments', 'extend'), ...heldToTheEnd],
    begin: topups(byCard, silence),
  },
  {
    kind: 'topup',
    name: 'top-up without webhooks',
    boundaries: [...toppedUp, 'payments:row-of-list-received', ...credited],
    begin: unheard(topups(atOnce)),
  },
  {
    kind: 'topup',
    name: 'top-up found by polling',
    terms: otherLists,
    boundaries: [...toppedUp, 'payments:payment-found', 'payments:paid-committed', ...credited],
    begin: unheard(topups(atOnce)),
  },
]
