import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import type { Funds } from '../../../support/people'
import { entryNow } from '../../../support/requests'
import { audit } from '../../audit/audit'
import { ask } from '../../drivers/client'
import { hurry } from '../../drivers/hurry'
import { act, type Prepared, play, prepare } from '../../drivers/play'
import { openWorld, type World } from '../../drivers/stack'
import { unfinishedIn } from '../../drivers/unfinished'
import type { Entry } from '../../evidence'
import { plain } from '../../fates'
import { keepWorld } from '../../kept'
import { type Plan, topup } from '../../people'
import { entriesOf } from '../../quiet'
import { openRecord, type Record } from '../../record'
import { fateOfPath, type Path } from './paths'
import type { Trial } from './plan'
import { stackOptionsOf } from './terms'
import { type Item, type Kills, type Outcome, tryKills } from './trial'

export type Tried = Trial & Outcome

/** Most trials on one stack: each check reads the whole chain and book, which grow. */
const trialsMax = 50
/** Longest wait in ms for the end of an item; a leased check is retried after 20 s. */
const patienceMs = 90_000
const lookEveryMs = 100
const hurryEveryMs = 500
/** Time in ms for the boundaries after the end of an item, such as the acknowledgement of its last message. */
const afterwardsMs = 3_000

export async function tryAll(
  trials: readonly Trial[],
  stacks: number,
  tell: (tried: Tried) => void,
): Promise<{ tried: Tried[]; faults: string[] }> {
  const rounds = roundsOf(trials)
  const tried: Tried[] = []
  const faults: string[] = []
  const work = async () => {
    for (let round = rounds.shift(); round; round = rounds.shift()) {
      const left = [...round]
      while (left.length > 0)
        try {
          const fault = await tryOnOneStack(left, (one) => {
            tried.push(one)
            tell(one)
          })
          if (fault) faults.push(`${round[0]!.path.name}: ${fault}`)
        } catch (error) {
          faults.push(`${round[0]!.path.name}: ${(error as Error).message}`)
          left.length = 0 // The stack of the next trial would fail to start too.
        }
    }
  }
  await Promise.all(Array.from({ length: stacks }, work))
  return { tried, faults }
}

function roundsOf(trials: readonly Trial[]): Trial[][] {
  const ofPath = [...Map.groupBy(trials, ({ path }) => path).values()]
  return ofPath.flatMap((all) => {
    const count = Math.ceil(all.length / trialsMax)
    return Array.from({ length: count }, (_, at) => all.filter((_, own) => own % count === at))
  })
}

/** Runs trials on one stack until one fails. Returns the findings of the audit of the whole stack. */
async function tryOnOneStack(left: Trial[], tell: (tried: Tried) => void): Promise<string | undefined> {
  const { path } = left[0]!
  using kills = openKills()
  await using world = await openWorld('one', stackOptionsOf(path.terms ?? {}, kills.file))
  const users = openUsers(world)
  while (left.length > 0) {
    const trial = left.shift()!
    const outcome = await tryKills(kills, () => begin(world, path, users, kills), trial.kills)
    const fault = outcome.fault && `${outcome.fault}; kept in ${await keepWorld(world)}`
    tell({ ...trial, ...outcome, fault })
    // Pending work would disturb the next trials.
    if (fault) return undefined
  }
  await world.heal()
  const { findings } = audit(await world.evidence(users.record, users.entries(), users.all))
  if (findings.length === 0) return undefined
  return `${findings.join('; ')}; kept in ${await keepWorld(world)}`
}

/** The users of one stack, with their latest activity. Only a user with a new item is read again. */
function openUsers(world: World) {
  const record: Record = openRecord()
  const all: Person[] = []
  const seen = new Map<Person, readonly Entry[]>()
  let shared: Promise<Person> | undefined
  const join = async (plan: Plan): Promise<Person> => {
    const person = await world.newPerson(fundsOf(plan))
    all.push(person)
    if (plan.kind === 'cashout' || plan.kind === 'verification') return person
    await world.outside.identity(person.wallet, 'approved')
    await person.until('verification', (me) => me.verified, patienceMs)
    // The drip is not one of the item's steps.
    await waitUntil('nothing to be left', async () => (await unfinishedIn(world.sql)).length === 0, patienceMs, 50)
    if (plan.kind !== 'settlement' && plan.kind !== 'autorepay') return person
    await play(sceneOf(person), topup({ amountMinor: 5_000_000 }), plain)
    await settle(world, users, person)
    return person
  }
  const sceneOf = (person: Person) =>
    world.sceneOf(person, record, { ask: (path, body) => ask(record, person, path, body, patienceMs) })
  const users = {
    record,
    all,
    sceneOf,
    /** Returns the user of the next item of a path. */
    next: (path: Path): Promise<Person> => {
      if (path.byNewUsers) return join(path.plan)
      shared ??= join(path.plan)
      return shared
    },
    read: async (person: Person) => void seen.set(person, await entriesOf(person)),
    entries: () => [...seen.values()].flat(),
  }
  return users
}
type Users = ReturnType<typeof openUsers>

/** Returns the funds that a plan needs. A user to verify has no native coin, so that the drip is the whole balance. */
function fundsOf(plan: Plan): Funds {
  switch (plan.kind) {
    case 'verification':
      return { wei: 0n }
    case 'cashout':
    case 'send':
      return { ausdMicro: 1_000_000_000n }
    case 'settlement':
    case 'autorepay':
      return { wei: 10n ** 20n }
    case 'topup':
      return {}
  }
}

/** Begins an item: everything before the boundaries of its path. */
async function begin(world: World, path: Path, users: Users, kills: Kills): Promise<Item> {
  const person = await users.next(path)
  await person.me() // This request waits for the gateway, which may have been killed before.
  const prepared = await prepare(users.sceneOf(person), path.plan, fateOfPath(path))
  if (!prepared) throw new Error(`the user cannot begin: ${path.name}`)
  const accept = async () => {
    await Promise.all([path.during?.(world, prepared.deed), act(prepared)])
    assertAccepted(prepared)
  }
  if (path.armsAtFate) {
    await accept()
    await reached(person, prepared, fateOfPath(path).events[0]!)
  }
  return async () => {
    if (!path.armsAtFate) await accept()
    await prepared.befall()
    await settle(world, users, person)
    const areMet = async () => kills.left().length === 0
    await waitUntil('the last boundaries', areMet, afterwardsMs, lookEveryMs).catch(() => {})
  }
}

function assertAccepted({ deed }: Prepared): void {
  if (deed.kind === 'verification' || deed.kind === 'autorepay') return
  if (deed.answer === null) throw new Error(`the ${deed.kind} was not accepted: ${deed.refused ?? 'no answer'}`)
}

async function reached(person: Person, { deed }: Prepared, first: object): Promise<void> {
  if (!('until' in first)) return
  const status = first.until as string
  const isThere = () => entryNow(person, deed.answer!.id, status)
  await waitUntil(`${deed.answer!.id} to be ${status}`, isThere, patienceMs)
}

/** Waits until no row is unfinished and the audit has no findings. Throws its findings after the deadline. */
async function settle(world: World, users: Users, person: Person): Promise<void> {
  const givesUpAt = performance.now() + patienceMs
  for (let hurriedAt = 0; ; ) {
    if (performance.now() - hurriedAt > hurryEveryMs) {
      hurriedAt = performance.now()
      await hurry(world.sql)
    }
    const isLast = performance.now() > givesUpAt
    const left = await unfinishedIn(world.sql)
    if (left.length === 0 || isLast) {
      const isRead = await users.read(person).then(
        () => true,
        () => false, // The gateway may have been killed.
      )
      if (isRead || isLast) {
        const { findings } = audit(await world.evidence(users.record, users.entries()))
        if (findings.length === 0) return
        if (isLast) throw new Error(findings.join('; '))
      }
    }
    await pause(lookEveryMs)
  }
}

/** Opens the file in which all services of a stack look for the boundary at which to be killed. */
function openKills(): Kills & Disposable & { readonly file: string } {
  const dir = mkdtempSync(join(tmpdir(), 'failpoints-'))
  const file = join(dir, 'failpoints')
  return {
    file,
    arm: (boundaries) => {
      // The file is replaced at once, since processes may read it at any time.
      writeFileSync(`${file}.draft`, `${boundaries.join('\n')}\n`)
      renameSync(`${file}.draft`, file)
    },
    disarm: () => rmSync(file, { force: true }),
    left: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}
