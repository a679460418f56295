import type { ExternalControls } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { personOf } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { noFaults } from '#infra/sandbox/faults'
import { pause } from '#platform/deadline'
import { cashOut } from '../support/flows'
import { verifiedUsers } from '../support/people'
import { entryNow, openCheckout } from '../support/requests'

export type Dependency = {
  readonly name: 'nats' | 'postgres' | 'chain' | 'provider'
  readonly how: string
  readonly take: (world: World) => Promise<void>
  readonly giveBack: (world: World) => Promise<void>
}

export type World = { readonly stack: Stack; readonly outside: ExternalControls }

const killed = (process: 'nats-server' | 'postgres') => ({
  how: 'killed and restarted',
  take: ({ stack }: World) => stack.process(process).stop('SIGKILL'),
  giveBack: async ({ stack }: World) => void stack.process(process).start(),
})

export const dependencies: readonly Dependency[] = [
  { name: 'nats', ...killed('nats-server') },
  { name: 'postgres', ...killed('postgres') },
  {
    name: 'chain',
    how: 'the endpoint drops every connection',
    take: async ({ stack }) => stack.rpcProxy!.setFaults({ disconnectRate: 1 }),
    giveBack: async ({ stack }) => stack.rpcProxy!.setFaults({}),
  },
  {
    name: 'provider',
    how: 'every request gets a 500, no webhook is sent',
    take: ({ outside }) => set(outside, { api: { errorRate: 1 }, webhooks: { drop: 1 } }),
    giveBack: ({ outside }) => set(outside, { api: noFaults.api, webhooks: noFaults.webhooks }),
  },
]

const set = async (outside: ExternalControls, faults: object) => void (await outside.faults(faults))

/** Recovery after an outage, with times in ms from its end. */
export type Recovery = {
  readonly name: Dependency['name']
  /** Time until a request that needs the dependency succeeded. */
  readonly answersMs: number
  /** Times until each pending item completed, sorted; 0 if it did before the end. */
  readonly endsMs: readonly number[]
}

const topUpMinor = '520000'
const takenMicro = 2_000_000n
const has = { ausdMicro: 20_000_000n, wei: 10n ** 19n }
const endsMaxMs = 300_000
const lookEveryMs = 500

/** Takes a dependency away while checkouts are paid and cash-outs are pending. */
export async function outage(
  world: World,
  { name, take, giveBack }: Dependency,
  terms: { people: number; seconds: number },
): Promise<Recovery> {
  const { stack, outside } = world
  const people = await verifiedUsers(stack, terms.people, has)
  const [payers, takers] = [people.filter((_, index) => index % 3 < 2), people.filter((_, index) => index % 3 === 2)]
  const payments = await Promise.all(payers.map(checkout))
  const cashouts = await Promise.all(takers.map((person) => cashOut(stack, person, { ausdMicro: takenMicro })))
  await take(world)
  const startedAt = performance.now()
  const everyMs = (terms.seconds * 1_000) / (payments.length + 1)
  for (const { id } of payments) {
    await pause(everyMs)
    await waitUntil('the payer to pay', () => paid(outside, id))
  }
  await pause(terms.seconds * 1_000 - (performance.now() - startedAt))
  await giveBack(world)
  const endedAt = performance.now()
  const since = () => Math.round(performance.now() - endedAt)
  const answersMs = answersAgain(world, name).then(since)
  const endsMs = await Promise.all(
    [...payments, ...cashouts].map(({ person, id, ends }) =>
      waitUntil(`${id} to be ${ends}`, () => hasEnd(person, id, ends), endsMaxMs, lookEveryMs).then(since),
    ),
  )
  return {
    name,
    answersMs: await answersMs,
    endsMs: endsMs.sort((left, right) => left - right),
  }
}

async function checkout(person: Person) {
  const { paymentId: id } = await openCheckout(person, { amount: topUpMinor })
  return { person, id, ends: ['credited'] }
}

const paid = (outside: ExternalControls, id: string) =>
  outside.pay(id, 'QRIS').then(
    () => true,
    // A 409 means that an earlier attempt succeeded but lost its response.
    (error: Error) => /answered 409/.test(error.message),
  )

const hasEnd = (person: Person, id: string, ends: readonly string[]) =>
  entryNow(person, id, ...ends).then(Boolean, () => false)

function answersAgain({ stack }: World, name: Dependency['name']): Promise<true> {
  const path = name === 'provider' ? '/ready' : '/me'
  const key = `0x${'5'.repeat(64)}` as const
  const person = personOf(stack.info, key)
  const asked = () =>
    person.get(path).then(
      ({ status }) => status === 200,
      () => false,
    )
  return waitUntil(`${path} to respond`, asked, endsMaxMs, 50).then(() => true as const)
}
