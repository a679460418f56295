import { createHash } from 'node:crypto'
import postgres, { type Sql } from 'postgres'
import type { Address, Hex, LocalAccount } from 'viem'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { checkBooks } from '#infra/operations/books/reconcile'
import { accessOf, openOperator } from '#infra/operations/cli/operator'
import { placeOf } from '#infra/operations/place'
import { openRandom, type Random } from '#infra/sandbox/random'
import { ReviewResolve } from '#shared/messages/payments'
import { type Funds, newUser } from '../../support/people'
import { refusals } from '../../support/requests'
import { quickChecks } from '../../support/settings'
import { ownStack, type SuiteOptions } from '../../support/stack'
import { readWritten } from '../audit/leaks'
import { notedAsPublished, storedMessages } from '../audit/messages'
import { readChain } from '../chain-facts'
import { alwaysCalm, type Entry, type Evidence } from '../evidence'
import type { Record } from '../record'
import { openBalancer } from './balancer'
import { ask } from './client'
import type { Scene } from './play'
import { openPower, type Power } from './power'
import { countedIn, owedIn, unfinishedIn } from './unfinished'
import { openWire, type Wire } from './wire'

/**
 * `one` instance of each service, two `copies` of each behind one address, or `copies behind wires`, whose connections to NATS
 * and Postgres can be disturbed.
 */
export type Topology = 'one' | 'copies' | 'copies behind wires'

/** A running stack with its provider and chain, on which a driver plays users and whose evidence it reads. */
export type World = AsyncDisposable & {
  readonly stack: Stack
  readonly outside: ExternalControls
  /** Connections to NATS and Postgres, if the topology has wires. */
  readonly wires: Partial<{ readonly nats: Wire; readonly postgres: Wire }>
  /** Power of the stores, if they are on disks of their own. */
  readonly power: Power | undefined
  readonly sql: Sql
  /** Targets of faults that an upgrade has stopped. */
  readonly retired: Set<string>
  readonly treasury: Address
  /** Returns a new user, without a verification. */
  readonly newPerson: (has?: Funds, signer?: Hex | LocalAccount) => Promise<Person>
  /** Returns the scene of a user. `change` replaces how the user asks, or what else is given. */
  readonly sceneOf: (person: Person, record: Record, change?: Partial<Scene>) => Scene
  /**
   * Reads the evidence; `entries` are the activity of all users. Without `whole`, which lists these users, it leaves out
   * streams, books and texts, which take seconds to read.
   */
  readonly evidence: (record: Record, entries: readonly Entry[], whole?: readonly Person[]) => Promise<Evidence>
  /** Ends every fault. */
  readonly heal: () => Promise<void>
}

/** Opens a world. `changes.env` replaces its settings. With `disks`, the power of its stores can be cut. */
export async function openWorld(
  topology: Topology,
  { disks = false, ...changes }: SuiteOptions & { readonly disks?: boolean } = {},
): Promise<World> {
  const options = { env: quickChecks, durable: disks, ...changes }
  const ends = new AsyncDisposableStack()
  try {
    const wires: { nats?: Wire; postgres?: Wire } = {}
    const wired = (to: 'nats' | 'postgres', host: string) => {
      const { hostname, port } = new URL(`tcp://${host}`)
      wires[to] = ends.use(openWire({ hostname, port: Number(port) }))
      return wires[to].host
    }
    const { stack, info } =
      topology === 'one'
        ? await ownStack(options).then((own) => ({ stack: ends.use(own), info: own.info }))
        : ends.use(await openCopies(topology === 'copies' ? options : { wire: wired, ...options }))
    const sql = postgres(stack.adminUrl, { max: 2, onnotice: () => {} })
    ends.defer(() => sql.end({ timeout: 1 }))
    const power = disks ? ends.use(await openPower(stack, sql)) : undefined
    const operator = ends.use(openOperator(accessOf(stack.info)))
    const outside = outsideOf(info)
    for (const refusal of refusals) await outside.control('accounts', refusal)
    const reached = { info, dir: stack.dir, adminUrl: stack.adminUrl }
    const { chain } = info
    const place = {
      rpcUrl: stack.info.chain.rpcUrl,
      ausd: chain.ausd as Address,
      creditLine: chain.creditLine as Address,
      treasury: chain.treasury as Address,
    }
    const refundByOperator = (paymentId: string) => {
      const by = { by: 'sari', reason: 'ticket 7' }
      const command = { verb: 'review resolve', target: paymentId, cause: 'refund, 1', ...by }
      const asked = { paymentId, resolution: 'refund' as const, ...by }
      const decide = () =>
        perform(operator, command, (id) => askOutcome(operator, ReviewResolve, { command: id, ...asked }))
      return waitUntil('a decision', () => decide().catch(() => undefined), operatorPatienceMs, 100).then(
        (outcome) => 'done' in outcome,
        () => false,
      )
    }
    return {
      stack,
      outside,
      wires,
      power,
      sql,
      retired: new Set(),
      treasury: place.treasury,
      newPerson: (has = {}, signer) => newUser(reached, has, signer),
      sceneOf: (person, record, change = {}) => ({
        person,
        outside,
        record,
        chance: openRandom(),
        signal: never,
        ask: (path, body) => ask(record, person, path, body),
        treasury: place.treasury,
        refundByOperator,
        ...change,
      }),
      evidence: async (record, entries, whole) => {
        const { deeds } = record
        const [book, chainFacts, unfinished, owed, counted] = await Promise.all([
          outside.book(),
          readChain(
            place,
            deeds.map(({ wallet }) => wallet),
          ),
          unfinishedIn(sql),
          owedIn(sql),
          countedIn(sql),
        ])
        const stored = whole ? await storedMessages(stack) : []
        return {
          calms: alwaysCalm,
          deeds,
          entries,
          book,
          chain: chainFacts,
          treasury: place.treasury,
          database: {
            unfinished,
            owed,
            counted,
            stored,
            published: whole ? await notedAsPublished(stack) : [],
            breaks: whole
              ? await checkBooks(placeOf(stack.info), stack.adminUrl).catch((error: Error) => [
                  `they cannot be compared: ${error.message}`,
                ])
              : [],
          },
          written: whole ? await readWritten(stack, whole, stored, record.errors) : { texts: [], secrets: [] },
        }
      },
      heal: async () => {
        stack.rpcProxy?.setFaults({})
        for (const wire of Object.values(wires)) {
          wire.open()
          wire.slow(0)
        }
        await waitUntil('the sandbox to accept new settings', () => outside.faults({}), 60_000)
      },
      [Symbol.asyncDispose]: () => ends.disposeAsync(),
    }
  } catch (error) {
    await ends.disposeAsync()
    throw error
  }
}

const operatorPatienceMs = 90_000
const never = new AbortController().signal

/**
 * Opens two instances of each service. `info` has the load balancer's address; `options.env` overrides the suites'
 * defaults.
 */
export async function openCopies(options: SuiteOptions = {}) {
  const balancer = openBalancer()
  const env = {
    ...quickChecks,
    gateway: { DRAIN_MS: '1500' },
    ...options.env,
    sandbox: { ...(options.env?.sandbox ?? quickChecks.sandbox), GATEWAY_URL: balancer.url },
  }
  const stack = await ownStack({ copies: 2, ...options, env })
  balancer.spread(stack.gateways)
  return {
    stack,
    info: { ...stack.info, gateway: balancer.url },
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]()
      await balancer[Symbol.asyncDispose]()
    },
  }
}

/** Returns the private key of a user, which the seed and the index determine. */
export const keyOf = (seed: number, index: number): Hex =>
  `0x${createHash('sha256').update(`campaign ${seed} ${index}`).digest('hex')}`

export function chanceOf(seed: number, index: number): Random {
  const chance = openRandom()
  // The multipliers make the choices of neighbouring seeds unrelated.
  chance.reseed(Math.imul(seed + 1, 0x9e3779b1) + Math.imul(index + 2, 0x85ebca6b))
  return chance
}
