import type { Address } from 'viem'
import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { checkBooks } from '#infra/operations/books/reconcile'
import { placeOf } from '#infra/operations/place'
import { openRandom, type Random } from '#infra/sandbox/random'
import { pause } from '#platform/deadline'
import { serviceNames } from '#shared/messages/topic'
import { boundariesOf } from '../failures/failpoints'
import { checkedOut } from '../scale/older'
import { audit } from './audit/audit'
import { readChain } from './chain-facts'
import type { Entry } from './evidence'
import { faultsWith, targetOf } from './faults'
import { flowsWith, giveBackAfterHold, live, type Scene } from './flows'
import { findLeaks } from './leaks'
import { announcedIn, notedAsPublished, storedMessages } from './messages'
import { endPending } from './money-back'
import type { Options } from './options'
import { quietly } from './quiet'
import { openRecord } from './record'
import type { Report } from './report'
import { makeTrouble } from './trouble'
import { openWorld, type World } from './world'

/** Interval in ms between new users whose payment is reversed after its hold. */
const lateTakerEveryMs = 12_000
/**
 * Pause of a user in ms, which grows with the number of users: two cores can serve ten new flows a second while half
 * the stack is down.
 */
const restLeastMs = 1_500
const restOfEachMs = 200
/** Fraction of the campaign after which an upgrade begins. */
const upgradeAt = 0.4

/** Runs a campaign. Throws only if it cannot run at all. */
export async function runCampaign(options: Options, say: (line: string) => void): Promise<Report> {
  const { seed, minutes, people: count } = options
  const flows = flowsWith(options.flows)
  using older = options.upgradeFrom ? checkedOut(options.upgradeFrom) : undefined
  await using world = await openWorld(options, older?.dir ?? null)
  const record = openRecord()
  const stop = new AbortController()
  const treasury = world.stack.info.chain.treasury as Address
  const everybody: Person[] = []
  const join = async (index: number) => {
    const { person, isContract } = await world.newPerson(index)
    everybody.push(person)
    await person.until('verification', (me) => me.verified, 90_000)
    const scene: Scene = {
      person,
      record,
      treasury,
      outside: world.outside,
      chance: chanceOf(seed, index),
      signal: stop.signal,
    }
    return { scene, isContract }
  }
  const first = []
  for (let index = 0; index < count; index++) first.push(await join(index))
  say(`${count} users verified`)

  const restMs = Math.max(restLeastMs, count * restOfEachMs)
  const living = first.map(({ scene, isContract }) => live(scene, isContract ? flows.contract : flows.own, restMs))
  living.push(lateTakers(join, count, stop.signal))
  const faults = faultsWith(failpoints()).filter(
    ({ name }) => options.faults.length === 0 || options.faults.some((one) => name.includes(one)),
  )
  if (faults.length === 0) throw new Error(`--faults matches no fault: ${options.faults.join(', ')}`)
  const trouble = makeTrouble(world, faults, chanceOf(seed, -1), stop.signal)
  const upgrade = options.upgradeFrom ? replaceOlder(world, minutes, stop.signal) : undefined
  const ending = setTimeout(() => stop.abort(), minutes * 60_000)
  await pause(minutes * 60_000, stop.signal)
  clearTimeout(ending)
  stop.abort()
  const happened = await trouble
  await upgrade
  say(`${happened.length} faults ended; waiting for pending items`)
  const quietFrom = performance.now()
  await heal(world)
  await Promise.all(living)
  await endPending(world.outside)
  const { chain } = world.stack.info
  const place = {
    rpcUrl: chain.rpcUrl,
    ausd: chain.ausd as Address,
    creditLine: chain.creditLine as Address,
    treasury,
  }
  const judge = async (entries: Entry[]) =>
    audit({
      entries,
      treasury,
      deeds: record.deeds,
      book: await world.outside.book(),
      chain: await readChain(place),
    })
  const { verdict, last } = await quietly(everybody, judge, options.quietSeconds * 1_000)
  const quietMs = performance.now() - quietFrom
  const isMeant = (words: string) => verdict.waiting.some(({ id }) => words.includes(id))
  const found = await checkBooks(placeOf(world.stack.info), world.stack.adminUrl).catch((error: Error) => [
    `the books cannot be compared: ${error.message}`,
  ])
  const breaks = found.filter((words) => !isMeant(words))
  const noted = await notedAsPublished(world.stack)
  const stored = await storedMessages(world.stack)
  const leaks = await findLeaks(world.stack, everybody, stored, record.errors)
  const announced = announcedIn(noted, stored)
  return { options, record, happened, verdict, quietMs, last, breaks, announced, leaks }
}

const failpoints = () => new Map(serviceNames.map((name) => [name, boundariesOf(name)] as const))

function chanceOf(seed: number, index: number): Random {
  const chance = openRandom()
  // The multipliers make the choices of neighbouring seeds unrelated.
  chance.reseed(Math.imul(seed + 1, 0x9e3779b1) + Math.imul(index + 2, 0x85ebca6b))
  return chance
}

async function lateTakers(
  join: (index: number) => Promise<{ scene: Scene }>,
  from: number,
  signal: AbortSignal,
): Promise<void> {
  const all: Promise<void>[] = []
  for (let index = from; !signal.aborted; index++) {
    await pause(lateTakerEveryMs, signal)
    if (signal.aborted) break
    all.push(
      join(index).then(
        ({ scene }) => giveBackAfterHold(scene),
        () => {}, // The verification may time out while half the stack is down.
      ),
    )
  }
  await Promise.all(all)
}

async function replaceOlder({ stack, retired }: World, minutes: number, signal: AbortSignal) {
  await pause(minutes * 60_000 * upgradeAt, signal)
  for (const name of serviceNames) {
    retired.add(targetOf(name, 1))
    await stack.process(name, 1).stop('SIGTERM')
    await pause(1_000, signal)
  }
}

async function heal({ stack, wires, outside }: World): Promise<void> {
  stack.rpcProxy!.setFaults({})
  for (const wire of Object.values(wires)) {
    wire.open()
    wire.slow(0)
  }
  await waitUntil('the sandbox to accept new settings', () => outside.faults({}), 60_000)
}
