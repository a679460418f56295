import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { verifiedUser } from '../support/people'
import { insist } from '../support/requests'
import type { Terms, World } from './world'

export const kinds = [
  'topup',
  'settlement',
  'cashout',
  'refund',
  'send',
  'drip',
  'identity',
] as const

/** A way of money that processes die on. */
export type Path = {
  readonly kind: (typeof kinds)[number]
  readonly name: string
  readonly terms?: Terms
  /** Whether its boundaries are tried in pairs too: all of them, or those with one of these. */
  readonly inPairs?: 'all' | readonly string[]
  /** Every boundary that each item of it passes, in about this order. */
  readonly boundaries: readonly string[]
  /** Its holds and leases take long: suites leave it to `bun run crashes`. */
  readonly isSlow?: true
  /** Makes the people of it, and answers how to make an item ready, again and again. */
  readonly begin: (world: World) => Promise<() => Promise<Item>>
}

/** Brings one item to its end, and throws unless it had its effect exactly once. */
export type Item = () => Promise<void>

/** What was in the hands of a killed process comes again in seconds, a leased check after 20 s. */
export const patienceMs = 90_000

/** A verified person of whom nothing is under way any more. */
export async function settledUser(
  world: World,
  has: Parameters<typeof verifiedUser>[1] = {},
): Promise<Person> {
  const { stack, sql } = world
  const person = await verifiedUser(stack, has)
  await rowOf('the drip', () => dripOf(sql, person.wallet))
  return person
}

/** The row of somebody whose coin has come. */
export const dripOf = (sql: World['sql'], wallet: string) => sql`
  select wallet from gateway.identities where wallet = ${wallet} and drip_settled_at is not null`

/** A fresh quote's id. */
export const quoteOf = async (person: Person): Promise<string> =>
  (await insist(person, '/quote', { pair: 'USD/IDR' })).id

/** The same while no webhook arrives: the provider is asked for what became of it. */
export const unheard =
  (begin: Path['begin']): Path['begin'] =>
  async (world) => {
    const ready = await begin(world)
    await world.outside.faults({ webhooks: { drop: 1 } })
    return ready
  }

/** Waits for a row that a query finds: it costs less than any question to a service. */
export const rowOf = (
  what: string,
  find: () => PromiseLike<readonly unknown[]>,
): Promise<unknown> => waitUntil(what, async () => (await find())[0], patienceMs, 50)

/** Waits until a payment is in a state. */
export const paymentIn = ({ sql }: World, id: string, state: string): Promise<unknown> =>
  rowOf(
    `${id} being ${state}`,
    () => sql`select id from payments.payments where id = ${id} and state = ${state}`,
  )

/** Throws with both values, unless they are the same. */
export function same<T extends bigint | number | string>(what: string, seen: T, wanted: T): void {
  if (seen !== wanted) throw new Error(`${what}: ${seen} in place of ${wanted}`)
}
