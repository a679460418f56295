import { handle } from '#platform/bus/handling'
import { relayOutbox } from '#platform/bus/outbox-relay'
import type { Handler } from '#platform/bus/serve'
import type { Log } from '#platform/log'
import type { Question } from '#shared/messages/topic'
import { type Answer, ok, refuse } from '#shared/refusals'
import { defaultsOf } from '#test/support/settings'
import type { Fate } from '#test/world/fates'
import type { Plan } from '#test/world/people'
import { answersOf as answersOfPayments } from '../../../services/payments/answers'
import {
  assemble as assemblePayments,
  messagesOf as paymentsMessages,
  startLoops as startPaymentsLoops,
} from '../../../services/payments/assemble'
import { type Config as PaymentsConfig, fields as paymentsFields } from '../../../services/payments/config'
import { states } from '../../../services/payments/payment'
import type { PaymentRow } from '../../../services/payments/payment.table'
import { openXendit as openPayments } from '../../../services/payments/providers/xendit/client'
import * as payments from '../../../services/payments/schema.store'
import { answersOf as answersOfPayouts } from '../../../services/payouts/answers'
import {
  assemble as assemblePayouts,
  messagesOf as payoutsMessages,
  startLoops as startPayoutsLoops,
} from '../../../services/payouts/assemble'
import { type Config as PayoutsConfig, fields as payoutsFields } from '../../../services/payouts/config'
import { openXendit as openPayouts } from '../../../services/payouts/providers/xendit/client'
import * as payouts from '../../../services/payouts/schema.store'
import type { Chain } from '../chain/chain'
import { worldTerms } from '../chain/line'
import { accountAt, debtAt, dueCycles } from './accounts'
import type { Broker } from './broker'
import { oneOf } from './choices'
import { databaseOf } from './database'
import { asking, publishing } from './faults'
import type { SimulatedBus } from './loops'
import type { Pricing } from './pricing'
import { baseUrl, type Provider, secretKeys } from './provider'
import { refOf } from './refs'
import { treasury } from './wallets'
import type { Process, World } from './world'

export type Surroundings = {
  readonly world: World
  readonly broker: Broker
  readonly chain: Chain
  readonly pricing: Pricing
  readonly provider: Provider
  /** What happens outside, by the provider's id of the payment, or our id of the cash-out. */
  readonly fates: Map<string, Befallen>
}

/** The fate of an item, and the event of it that the sandbox refused, if there is one. */
export type Befallen = { readonly plan: Plan; readonly fate: Fate; isPlayed: boolean; refusedEvent: string | null }

export type Copy = { readonly process: Process; readonly answers: readonly Handler[] }

/** Sends a request to one of the copies that are alive. Returns false if there is none. */
export function askOne(
  { world }: Pick<Surroundings, 'world'>,
  copies: readonly Copy[],
  asked: { readonly question: Question; readonly request: object },
  onAnswer: (answer: { readonly ok?: Readonly<Record<string, string>>; readonly refused?: string }) => void,
): boolean {
  const alive = copies.filter(({ process }) => process.isAlive)
  const copy = alive[oneOf(world.choices, alive.length)]
  if (!copy) return false
  const { subject } = asked.question
  const answering = copy.answers.find((one) => one.question.subject === subject)
  if (!answering) throw new Error(`no simulated service answers ${subject}`)
  world.current = copy.process
  void answering.answer({ ...asked.request }).then(
    (answer) => onAnswer(answer as never),
    (error) => world.noteBug(error),
  )
  world.current = undefined
  return true
}

const logOf = ({ world }: Surroundings, process: Process): Log => {
  const write = (fields: { err?: Error; reason?: string }, message: string) => {
    world.noteBug(fields.err)
    if (fields.reason === 'authorization_cancelled') world.saw('a transfer was cancelled by its signer')
    if (message === 'operation done by a foreign transaction') world.saw('a transfer was submitted by a third party')
    if (world.story) world.tell(`${process.name} logs: ${message}${causeOf(fields)}`)
  }
  return { trace: write, debug: () => {}, info: write, warn: write, error: write, alarm: write } as never
}

export function commonOf(around: Surroundings, process: Process) {
  const { world, broker } = around
  const database = databaseOf(world, process)
  const bus: SimulatedBus = {
    process,
    publish: (message) =>
      world.leave(process, publishing, `publishes ${message.subject}`, () => broker.publish(message)),
  }
  const clock = () => Math.floor(world.now) // The database stores whole milliseconds.
  return { database, bus: bus as never, log: logOf(around, process), clock }
}

export function askerOf(around: Surroundings, process: Process) {
  const { world } = around
  return async (question: { subject: string }, request: Record<string, string>) => {
    const answer = () => answerOf(around, question.subject, request)
    if (world.rows.undo) return answer() as never
    return world.leave(process, asking, `asks ${question.subject}`, answer) as never
  }
}

function answerOf(around: Surroundings, subject: string, request: Record<string, string>): Answer<unknown> {
  const { chain, pricing, world } = around
  switch (subject) {
    case 'pricing.quote.find':
      return pricing.find(request.quoteId!, request.requestFingerprint!)
    case 'pricing.quote.take':
      return pricing.take(request.quoteId!, request.requestFingerprint!)
    case 'pricing.rate.find':
      return pricing.present(request.pair!)
    case 'chain.account':
      return ok(accountAt(chain, request.wallet as `0x${string}`))
    case 'indexer.debt':
      return ok(debtAt(chain, request.wallet as `0x${string}`))
    case 'indexer.due':
      return ok(dueCycles(chain, request as never))
    case 'payments.activity':
      return ok({ items: [], inFlight: settlementsInFlight(world, request.wallet!) })
    case 'chain.ref': {
      const isOpen = world.rows.operations
        .by('cause', request.refId!)
        .some(({ state }) => state === 'waiting' || state === 'assigned')
      const isUsed = chain.contract.appliedAt(refOf(request.refId!), chain.latest.number) !== undefined
      return ok({ state: isUsed ? 'used' : isOpen ? 'ordered' : 'unused' })
    }
    case 'chain.terms':
      return ok({ holdSeconds: Number(worldTerms.holdSeconds), cycle: cycleTerms })
    case 'chain.hold':
      return ok(holdOf(chain, request.refId!))
    case 'chain.authorization.check':
      return checkAuthorization(chain, request.authorization as never)
    default:
      throw new Error(`${subject} has no responder here`)
  }
}

const cycleTerms = {
  termSeconds: Number(worldTerms.termSeconds),
  graceSeconds: Number(worldTerms.graceSeconds),
}

/** Returns the settlements of a wallet that have not ended, as payments lists them. */
function settlementsInFlight({ rows, now }: World, wallet: string): readonly { kind: string; status: string }[] {
  const isPayable = ({ state, expiresAt }: PaymentRow) =>
    state === 'awaiting_payment' && expiresAt !== null && expiresAt.getTime() > now
  return rows.payments
    .by('wallet', wallet)
    .filter((row) => row.kind === 'settlement' && (isPayable(row) || states[row.state].inFlight === true))
    .map(({ kind, state }) => ({ kind, status: state }))
}

function holdOf({ contract, latest }: Chain, refId: string) {
  const blockTime = String(latest.timestamp)
  const applied = contract.applied.about(refOf(refId))[0]
  if (!applied?.held) return { state: 'none', until: null, blockTime }
  const until = contract.untilOf(applied, latest.number)
  if (contract.leftAt(applied, latest.number) === 0n) return { state: 'revoked', until: null, blockTime }
  const state = latest.timestamp >= until ? 'released' : 'held'
  return { state, until: String(until), blockTime }
}

function checkAuthorization(
  { contract, latest }: Chain,
  { from, nonce, value }: { from: `0x${string}`; nonce: `0x${string}`; value: string },
): Answer<unknown> {
  if (contract.useAt({ from, nonce }, latest.number)) return refuse('nonce_used')
  const free = contract.balanceAt(from, latest.number)
  if (free < BigInt(value)) return refuse('balance_too_low')
  return ok({ free: String(free), counted: [] })
}

/** A simulated day lasts minutes, so that everything comes sooner and people may do more of it. */
const sooner = {
  recheckAfterMs: 6_000,
  recheckEveryMs: 2_000,
  listEveryMs: 15_000,
  providerListRecentMs: 3_600_000,
  providerListWholeEveryMs: 120_000,
  providerListWholeMs: 86_400_000,
}
const paymentsConfig: PaymentsConfig = {
  ...defaultsOf('payments', paymentsFields),
  ...sooner,
  checkoutTtlMs: 40_000,
  holdMarginMs: 8_000,
  providerListLatestEveryMs: 7_000,
  providerListLatestMs: 60_000,
  topupDayMaxUsd: 10n ** 9n,
  topupDayCountMax: 1_000_000,
  topupOpenMaxUsd: 10n ** 9n,
}
const payoutsConfig: PayoutsConfig = {
  ...defaultsOf('payouts', payoutsFields),
  ...sooner,
  treasuryAddress: treasury,
  cashoutDayMaxUsd: 10n ** 9n,
  cashoutRefusedDayMax: 1_000,
  cashoutRefusedToAccountDayMax: 1_000,
  reversalWatchMs: 600_000,
}

const ample = {
  balanceMicro: 10n ** 18n,
  drawableMicro: 10n ** 18n,
  orderedMicro: 0n,
  owedMicro: 0n,
  creditMaxMicro: 10n ** 18n,
  repayMaxMicro: 10n ** 18n,
  readAt: new Date(0),
}
const treasuryReading = {
  refresh: async () => {},
  current: async () => ample,
  last: () => ample,
}

const callsOf = ({ provider }: Surroundings, process: Process) => ({
  baseUrl,
  exchange: provider.exchangeOf(process),
  requestsPerMinute: 60_000, // The sandbox's own limit.
})

const bank = {
  code: 'ID_BCA',
  name: 'BCA',
  minMinor: 10_000n,
  maxMinor: 10n ** 12n,
  incrementMinor: 1n,
  accountDigits: [6, 20] as const,
}

export function startPayments(around: Surroundings, process: Process): Copy {
  const { broker } = around
  const common = commonOf(around, process)
  const { database, bus, log, clock } = common
  const relay = relayOutbox({ bus, database, outbox: payments.outbox, log })
  const context = assemblePayments(paymentsConfig, {
    database,
    log,
    clock,
    poke: relay.poke,
    treasury: treasuryReading,
    provider: openPayments({ ...callsOf(around, process), secretKeys, appUrl: 'https://app', log, clock }),
    ask: askerOf(around, process),
  })
  const handling = paymentsMessages(context)
  startPaymentsLoops(context, paymentsConfig, () => 1)
  broker.read('payments', { process, handle: (message) => handle(handling, message) })
  return { process, answers: answersOfPayments(context) }
}

export function startPayouts(around: Surroundings, process: Process): Copy {
  const { broker } = around
  const { database, bus, log, clock } = commonOf(around, process)
  const relay = relayOutbox({ bus, database, outbox: payouts.outbox, log })
  const readable = {
    seal: (details: object) => ({ keyId: 'key', box: JSON.stringify(details) }),
    open: ({ box }: { box: string }) => JSON.parse(box),
    marksOf: ({ accountNumber }: { accountNumber: string }) => [accountNumber],
    checkMarkOf: (wallet: string) => wallet,
  }
  const known = { minor: 10n ** 15n, readAt: new Date(0) }
  const channels = { find: async () => bank, all: async () => [bank], nameOf: () => bank.name }
  const context = assemblePayouts(payoutsConfig, {
    database,
    log,
    clock,
    poke: relay.poke,
    ask: askerOf(around, process),
    provider: openPayouts({ ...callsOf(around, process), secretKey: secretKeys.ID, log, clock }),
    channels,
    balance: { refresh: async () => {}, last: () => known, current: async () => known },
    safe: readable,
  })
  const handling = payoutsMessages(context, startPayoutsLoops(context, payoutsConfig))
  broker.read('payouts', { process, handle: (message) => handle(handling, message) })
  return { process, answers: answersOfPayouts(context) }
}

const hears: Readonly<Record<string, readonly string[]>> = {
  credit: ['payments'],
  repay: ['payments'],
  revoke: ['payments'],
  extend: ['payments'],
  freeze: ['payments'],
  take: ['payouts'],
  return: ['payouts'],
  autorepay: ['gateway'],
}

export function consumersOf(subject: string): readonly string[] {
  const [family, kind = '', outcome, reader] = subject.split('.')
  if (family === 'webhooks') return reader ? [reader] : []
  if (family !== 'relay') return []
  return outcome === undefined ? ['chain-relayer'] : (hears[kind] ?? [])
}

const causeOf = ({ err }: { readonly err?: Error }): string => (err ? `: ${err.message}` : '')
