import { privateKeyToAccount } from 'viem/accounts'
import type { Person } from '#infra/demo/person'
import { openRandom } from '#infra/sandbox/random'
import { pause } from '#platform/deadline'
import { serviceNames } from '#shared/messages/topic'
import { boundariesOf } from '../../failures/failpoints'
import { deployWallet, walletSigner } from '../../support/contract-wallets'
import { quickChecks } from '../../support/settings'
import { audit } from '../audit/audit'
import { searchedIn } from '../audit/leaks'
import { canMakeDisks } from '../drivers/disk'
import { checkedOut } from '../drivers/older'
import { endPending, play, type Scene } from '../drivers/play'
import { chanceOf, keyOf, openWorld, type World } from '../drivers/stack'
import type { Entry } from '../evidence'
import { afterCredit, type Fate, fates } from '../fates'
import { type Fault, faultsWith, targetOf } from '../faults'
import { keepWorld } from '../kept'
import type { Options } from '../options'
import { type Habit, habits, topup, weighted } from '../people'
import { quietly } from '../quiet'
import { openRecord } from '../record'
import type { Report } from '../report'
import { makeTrouble } from '../trouble'

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
/** AUSD (10⁻⁶) and native coin of each user at the start, enough for an hour of cash-outs and sends. */
const has = { ausdMicro: 2_000_000_000n, wei: 10n ** 19n }
/** Number of users per contract wallet. */
const contractEvery = 8
/** With every third seed, a debt may be repaid automatically after half a minute, and one user in so many lets it. */
const [shortTermEvery, automaticEvery] = [3, 4]
const shortTermSeconds = 60

/** Settings that differ from a deployment's: a campaign lasts minutes, and its users and days are few. */
const env = {
  payments: {
    ...quickChecks.payments,
    // A fault sets the provider's clock back by two hours; in production the overlap is days.
    PROVIDER_LIST_RECENT_MS: '10800000',
  },
}

/**
 * Many users live on copies of every service, under faults of every kind. With an even seed there is a second chain
 * endpoint, without faults. Throws only if the campaign cannot run at all.
 */
export async function runCampaign(options: Options, say: (line: string) => void): Promise<Report> {
  const { seed, minutes, people: count } = options
  const lives = livesWith(options.flows)
  const isShort = seed % shortTermEvery === 0
  const faults = possibleFaults(options, say)
  using older = options.upgradeFrom ? checkedOut(options.upgradeFrom) : undefined
  await using world = await openWorld(options.topology, {
    proxied: seed % 2 === 0 ? 'and directly' : true,
    terms: { minCycleSeconds: 5, ...(isShort && { termSeconds: shortTermSeconds }) },
    disks: faults.some(({ needs }) => needs === 'disks'),
    env,
    ...(older ? { codeDir: (copy: number) => (copy === 1 ? older.dir : undefined) } : {}),
  })
  const record = openRecord()
  const stop = new AbortController()
  const everybody: Person[] = []
  const join = async (index: number) => {
    const isContract = index % contractEvery === contractEvery - 1
    const person = await newPerson(world, seed, index, isContract)
    everybody.push(person)
    await person.until('verification', (me) => me.verified, 90_000)
    return { scene: world.sceneOf(person, record, { chance: chanceOf(seed, index), signal: stop.signal }), isContract }
  }
  const first = []
  for (let index = 0; index < count; index++) first.push(await join(index))
  say(`${count} users verified`)

  const restMs = Math.max(restLeastMs, count * restOfEachMs)
  const living = first.map(({ scene, isContract }, index) =>
    live(scene, livesOf(lives, { isContract, isAutomatic: isShort && index % automaticEvery === 0 }), restMs),
  )
  living.push(lateTakers(join, count, lateFatesWith(options.flows), stop.signal))
  const trouble = makeTrouble(world, faults, chanceOf(seed, -1), stop.signal)
  const upgrade = older ? replaceOlder(world, minutes, stop.signal) : undefined
  await pause(minutes * 60_000, stop.signal)
  stop.abort()
  const { happened, calms } = await trouble
  await upgrade
  say(`${happened.length} faults ended; waiting for pending items`)
  const quietFrom = performance.now()
  await world.heal()
  await Promise.all(living)
  await endPending(world.outside)
  const evidenceOf = async (entries: readonly Entry[], whole?: readonly Person[]) => ({
    ...(await world.evidence(record, entries, whole)),
    calms,
  })
  const judged = await quietly(
    everybody,
    async (entries) => audit(await evidenceOf(entries)),
    options.quietSeconds * 1_000,
  )
  const quietMs = performance.now() - quietFrom
  const evidence = await evidenceOf(judged.entries, everybody)
  const verdict = audit(evidence)
  if (verdict.findings.length > 0) {
    const { findings, waiting } = verdict
    const book = Object.entries(evidence.book).map(([kind, objects]) => [`provider.${kind}`, objects] as const)
    const users = { requests: record.deeds, activity: evidence.entries }
    const kept = { findings, waiting, calms, ...users, ...Object.fromEntries(book) }
    say(`kept in ${await keepWorld(world, kept)}`)
  }
  return { options, record, happened, verdict, quietMs, last: judged.last, searched: searchedIn(evidence.written) }
}

/** Returns the chosen faults that this machine can cause. */
function possibleFaults({ faults: words, topology }: Options, say: (line: string) => void): readonly Fault[] {
  const all = faultsWith(new Map(serviceNames.map((name) => [name, boundariesOf(name)])), topology)
  const chosen = all.filter(({ name }) => isChosen(name, words))
  if (chosen.length === 0) throw new Error(`--faults matches no fault: ${words.join(', ')}`)
  const here = { strace: Bun.which('strace') !== null, disks: canMakeDisks() }
  const lacking = new Set(chosen.flatMap(({ needs }) => (needs && !here[needs] ? [needs] : [])))
  if (lacking.has('strace')) say('without strace, no fault of the disk')
  if (lacking.has('disks')) say('without root and loop devices, no power cut')
  return chosen.filter(({ needs }) => !needs || here[needs])
}

async function newPerson(world: World, seed: number, index: number, isContract: boolean): Promise<Person> {
  const key = keyOf(seed, index)
  const owner = privateKeyToAccount(key)
  const signer = isContract ? walletSigner(await deployWallet(world.stack, owner.address), owner) : key
  const person = await world.newPerson(isContract ? { ...has, wei: 0n } : has, signer)
  await world.outside.identity(person.wallet, 'approved')
  return person
}

/** A habit with a fate that suits it. */
type Life = { readonly name: string; readonly weight: number; readonly habit: Habit; readonly fate: Fate }

const isChosen = (name: string, words: readonly string[]) =>
  words.length === 0 || words.some((one) => name.includes(one))

/** Returns the habits with their fates. `words` choose those with one of these in their names. */
export function livesWith(words: readonly string[]): readonly Life[] {
  const all = habits.flatMap((habit) => {
    const plan = habit.plan(openRandom())
    const suited = fates.filter(({ suits }) => suits(plan))
    const whole = suited.reduce((sum, { weight }) => sum + weight, 0)
    return suited.map((fate): Life => {
      const name = fate.events.length === 0 ? habit.name : `${habit.name}: ${fate.name}`
      return { name, weight: (habit.weight * fate.weight) / whole, habit, fate }
    })
  })
  const lives = all.filter(({ name }) => isChosen(name, words))
  if (lives.length === 0 && lateFatesWith(words).length === 0)
    throw new Error(`--flows matches no flow: ${words.join(', ')}`)
  return lives
}

/**
 * Returns what a user may do. One whose debts are repaid automatically repays nothing, and nothing befalls their payments,
 * so that each debt must be repaid so.
 */
function livesOf(lives: readonly Life[], { isContract, isAutomatic }: { isContract: boolean; isAutomatic: boolean }) {
  if (isContract) return lives.filter(({ habit }) => habit.byContracts)
  return lives.filter(({ habit, fate }) => {
    const { kind } = habit.plan(openRandom())
    if (!isAutomatic) return kind !== 'autorepay'
    return kind !== 'settlement' && (kind !== 'topup' || fate.events.length === 0)
  })
}

/** Plays lives until the end. One that throws on the user's side is abandoned. */
async function live(scene: Scene, lives: readonly Life[], restMs: number): Promise<void> {
  const { chance, signal, record } = scene
  while (!signal.aborted && lives.length > 0) {
    const { habit, fate } = weighted(lives, chance)
    await play(scene, habit.plan(chance), fate).catch((error: Error) =>
      record.count(`abandoned: ${error.message.split('\n')[0]!.slice(0, 60)}`),
    )
    await pause(chance.belowMs(restMs), signal)
  }
}

const late = fates.filter((fate) => fate.events.length > 0 && fate.suits(topup({ channel: 'CARDS' }))).map(afterCredit)

/** Returns the fates of late takers that `words` choose. */
const lateFatesWith = (words: readonly string[]) =>
  late.filter(({ name }) => isChosen(`top-up by card: ${name}`, words))

/**
 * Lets new users have a payment reversed after its hold. This freezes the wallet, so each user does it once; half of them
 * repay the loss by a top-up.
 */
async function lateTakers(
  join: (index: number) => Promise<{ scene: Scene }>,
  from: number,
  choice: readonly Fate[],
  signal: AbortSignal,
): Promise<void> {
  if (choice.length === 0) return
  const takeLate = async (scene: Scene) => {
    const { chance, record } = scene
    const fate = weighted(choice, chance)
    const going = play(scene, topup({ channel: 'CARDS' }), fate).catch((error: Error) =>
      record.count(`abandoned: ${error.message.split('\n')[0]!.slice(0, 60)}`),
    )
    await Promise.race([going, pause(chance.belowMs(120_000), signal)])
    if (!signal.aborted && chance.belowMs(2) === 0) await play(scene, topup(), fates[0]!)
    await going
  }
  const all: Promise<void>[] = []
  for (let index = from; !signal.aborted; index++) {
    await pause(lateTakerEveryMs, signal)
    if (signal.aborted) break
    all.push(
      join(index)
        .then(({ scene }) => takeLate(scene))
        .catch(() => {}), // The verification may time out while half the stack is down.
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
