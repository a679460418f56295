import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { verifiedUser } from '../support/people'
import { insist } from '../support/requests'
import type { Terms, World } from './world'

export const kinds = ['topup', 'settlement', 'cashout', 'refund', 'send', 'drip', 'identity'] as const

export type Path = {
  readonly kind: (typeof kinds)[number]
  readonly name: string
  readonly terms?: Terms
  /** Pairs to try: all of them, or those with one of these boundaries. */
  readonly inPairs?: 'all' | readonly string[]
  /** Boundaries, roughly in the order in which they are passed. */
  readonly boundaries: readonly string[]
  /** Creates the users and returns a function that begins one item per call. */
  readonly begin: (world: World) => Promise<() => Promise<Item>>
}

/** Waits for an item. Throws unless it took effect exactly once. */
export type Item = () => Promise<void>

/** Longest wait in ms; a leased check is retried after 20 s. */
export const patienceMs = 90_000

/** Returns a verified user whose drip has settled. */
export async function settledUser(world: World, has: Parameters<typeof verifiedUser>[1] = {}): Promise<Person> {
  const { stack, sql } = world
  const person = await verifiedUser(stack, has)
  await rowOf('the drip to settle', () => dripOf(sql, person.wallet))
  return person
}

export const dripOf = (sql: World['sql'], wallet: string) => sql`
  select wallet from gateway.identities where wallet = ${wallet} and drip_settled_at is not null`

export const quoteOf = async (person: Person): Promise<string> =>
  (await insist(person, '/quote', { pair: 'USD/IDR' })).id

/** Loses all webhooks, so that services poll the provider. */
export const unheard =
  (begin: Path['begin']): Path['begin'] =>
  async (world) => {
    const ready = await begin(world)
    await world.outside.faults({ webhooks: { drop: 1 } })
    return ready
  }

/** Waits for a row, because a query costs less than a request to a service. */
export const rowOf = (what: string, find: () => PromiseLike<readonly unknown[]>): Promise<unknown> =>
  waitUntil(what, async () => (await find())[0], patienceMs, 50)

export const paymentIn = ({ sql }: World, id: string, state: string): Promise<unknown> =>
  rowOf(`${id} to be ${state}`, () => sql`select id from payments.payments where id = ${id} and state = ${state}`)

export function same<T extends bigint | number | string>(what: string, seen: T, wanted: T): void {
  if (seen !== wanted) throw new Error(`${what}: ${seen} instead of ${wanted}`)
}
