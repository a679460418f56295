import { expect } from 'bun:test'
import type { Person } from '#infra/demo/person'
import type { StackOptions } from '#infra/local/stack'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { refusedAccount } from '../support/requests'
import { audit } from '../world/audit/audit'
import { play, type Scene } from '../world/drivers/play'
import { openWorld, type World } from '../world/drivers/stack'
import { type Fate, fateOf, plain } from '../world/fates'
import { cashout, type Plan, send, topup } from '../world/people'
import { entriesOf } from '../world/quiet'
import { openRecord, type Record } from '../world/record'
import type { CallResult, LoadTerms, SendOnce } from './load'

/** Copies of every service, with verified users whose money a load may move. */
export type LoadedWorld = World & LoadTerms & { readonly record: Record }

/** AUSD (10⁻⁶) of each user at the start, enough for a whole suite. */
const has = { ausdMicro: 500_000_000n }

/** Plans and fates of a load, in turn. A refund within the hold freezes no wallet, so no request may be refused. */
const moving: readonly (readonly [Plan, Fate])[] = [
  [topup(), plain],
  [cashout(), plain],
  [send(100_000n), plain],
  [topup({ channel: 'CARDS' }), fateOf('refunded')],
  [cashout({ accountNumber: refusedAccount }), plain],
]

/** Opens two instances of each service. `options.env` overrides the suites' defaults. */
export async function openLoadedWorld(peopleMax: number, options: Partial<StackOptions> = {}): Promise<LoadedWorld> {
  const world = await openWorld('copies', options)
  const join = async () => {
    const person = await world.newPerson(has)
    await world.outside.identity(person.wallet, 'approved')
    await person.until('verification', (me) => me.verified)
    return person
  }
  const people = await Promise.all(Array.from({ length: peopleMax }, join))
  const record = openRecord()
  const move = async (person: Person, turn: number, once: SendOnce) => {
    const [plan, fate] = moving[turn % moving.length]!
    const ask: Scene['ask'] = async (path, body) => ({ ok: await once(path, body) })
    await play(world.sceneOf(person, record, { ask }), plan, fate)
  }
  return { ...world, people, record, move, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

export const failuresOf = (seen: readonly CallResult[]): string[] =>
  seen.filter(({ status }) => status !== 200).map(wordsOf)

const wordsOf = ({ path, status, tookMs, said }: CallResult) => `${path} ${status} ${tookMs} ms ${said}`

export function tellOf(seen: readonly CallResult[]): string {
  const took = seen.map(({ tookMs }) => tookMs).sort((left, right) => left - right)
  const at = (part: number) => took[Math.min(took.length - 1, Math.floor(part * took.length))]
  return `${seen.length} requests, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`
}

/** Returns the ms until the audit has no findings. Throws its findings after `patienceMs`. */
export async function ended({ people, record, evidence }: LoadedWorld): Promise<number> {
  const startedAt = performance.now()
  let findings: readonly string[] = []
  const look = async () => {
    const entries = await Promise.all(people.map(entriesOf))
    findings = audit(await evidence(record, entries.flat())).findings
    return findings.length === 0
  }
  await waitUntil('the audit to find nothing', look, patienceMs, 250).catch((error: Error) => {
    throw new Error([error.message, ...findings].join('\n'))
  })
  return Math.round(performance.now() - startedAt)
}

/** Expects that nothing is lost, doubled or unbalanced, also in the streams, books and logs. */
export async function expectNothingFound({ people, record, evidence }: LoadedWorld) {
  const entries = await Promise.all(people.map(entriesOf))
  const { findings } = audit(await evidence(record, entries.flat(), people))
  expect(findings).toEqual([])
}
