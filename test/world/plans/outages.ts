import pMap from 'p-map'
import type { Person } from '#infra/demo/person'
import { personOf } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { entryNow } from '../../support/requests'
import { audit } from '../audit/audit'
import { type Prepared, prepare } from '../drivers/play'
import { openWorld, type World } from '../drivers/stack'
import { endsOf, plain } from '../fates'
import { type Dependency, dependencies } from '../faults'
import { cashout, type Plan, topup } from '../people'
import { entriesOf } from '../quiet'
import { openRecord, type Record } from '../record'

/** Recovery after an outage, with times in ms from its end. */
export type Recovery = {
  readonly name: Dependency['name']
  /** Time until a request that needs the dependency succeeded. */
  readonly answersMs: number
  /** Times until each pending item completed, sorted; 0 if it did before the end. */
  readonly endsMs: readonly number[]
}

export type Options = { readonly people: number; readonly seconds: number; readonly only: string | undefined }

const has = { ausdMicro: 20_000_000n, wei: 10n ** 19n }
const endsMaxMs = 300_000
const lookEveryMs = 500
const listsAtOnce = 8

/**
 * Takes each dependency away from a stack in use, with the intervals of a deployment. Calls `tell` with each recovery, and
 * returns the findings of the audit.
 */
export async function runOutages(options: Options, tell: (one: Recovery) => void): Promise<readonly string[]> {
  // The recheck intervals and webhook retries are those of a deployment.
  await using world = await openWorld('one', { times: 'deployed', env: {}, proxied: true })
  const record = openRecord()
  const everybody: Person[] = []
  const chosen = dependencies.filter(({ name }) => !options.only || options.only === name)
  for (const dependency of chosen) tell(await outage(world, { record, everybody }, dependency, options))
  let findings: readonly string[] = []
  const isWell = async () => {
    const entries = await pMap(everybody, entriesOf, { concurrency: listsAtOnce })
    findings = audit(await world.evidence(record, entries.flat(), everybody)).findings
    return findings.length === 0
  }
  await waitUntil('the audit to find nothing', isWell, 60_000, lookEveryMs).catch(() => {})
  return findings
}

type Users = { readonly record: Record; readonly everybody: Person[] }

/** Takes a dependency away while checkouts are paid and cash-outs are pending. */
async function outage(
  world: World,
  { record, everybody }: Users,
  { name, take, giveBack }: Dependency,
  { people, seconds }: Options,
): Promise<Recovery> {
  const begin = async (_: unknown, index: number): Promise<Item> => {
    const person = await world.newPerson(has)
    everybody.push(person)
    await world.outside.identity(person.wallet, 'approved')
    await person.until('verification', (me) => me.verified, 60_000)
    const plan: Plan = index % 3 < 2 ? topup({ amountMinor: 520_000 }) : cashout()
    const scene = world.sceneOf(person, record)
    const prepared = await prepare(scene, plan, plain)
    if (!prepared) throw new Error('a user got no quote')
    return { person, prepared, plan }
  }
  const items = await Promise.all(Array.from({ length: people }, begin))
  for (const { prepared } of items) await prepared.ask()
  const lacking = items.filter(({ prepared }) => prepared.deed.answer === null)
  if (lacking.length > 0) throw new Error(`${lacking.length} requests were not accepted before the outage`)
  await take(world)
  const startedAt = performance.now()
  const payers = items.filter(({ plan }) => plan.kind === 'topup')
  for (const { prepared } of payers) {
    await pause((seconds * 1_000) / (payers.length + 1))
    await prepared.pay()
  }
  await pause(seconds * 1_000 - (performance.now() - startedAt))
  await giveBack(world)
  const endedAt = performance.now()
  const since = () => Math.round(performance.now() - endedAt)
  const answersMs = answersAgain(world, name).then(since)
  const endsMs = await Promise.all(
    items.map(async (item) => {
      await item.prepared.befall()
      return waitUntil(
        `the end of ${item.prepared.deed.answer!.id}`,
        () => hasEnded(item),
        endsMaxMs,
        lookEveryMs,
      ).then(since)
    }),
  )
  return { name, answersMs: await answersMs, endsMs: endsMs.sort((left, right) => left - right) }
}

type Item = { readonly person: Person; readonly prepared: Prepared; readonly plan: Plan }

const hasEnded = ({ person, prepared, plan }: Item) =>
  entryNow(person, prepared.deed.answer!.id, ...endsOf(plan, plain)).then(Boolean, () => false)

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
