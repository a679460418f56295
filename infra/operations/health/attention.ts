import { alertNamed, commandText, instructionOf, type StatusAlert } from '#infra/operations/alerts/catalogue'
import { comparedMaxMs } from '#infra/operations/alerts/kinds/books'
import { outboxMaxMs } from '#infra/operations/alerts/kinds/messages'
import { clockApartMaxMs } from '#infra/operations/alerts/kinds/services'
import { stateLimits } from '#infra/operations/alerts/state-limits'
import { ageText } from '#infra/operations/books/text'
import { counted } from '#infra/operations/text'
import { processNames } from '#shared/messages/topic'
import { moneyText } from '#shared/money/text'
import type { Lag, OnBus, RateReading } from './bus'
import type { ExternalAnswer } from './external'
import type { SystemFacts, Unread } from './facts'
import { missedAmong } from './heartbeat'
import { pausedText } from './pauses'
import type { ListAge } from './provider-lists'
import type { InState } from './rows'

export type Floors = { lowMicro: bigint; lowMinor: bigint; laneWei: bigint; copies: number }

/** Returns the uncommitted AUSD of the treasury. Undefined if the balance is unknown. */
export const freeMicroOf = ({ treasury, owedMicro, promisedMicro }: SystemFacts): bigint | undefined => {
  if ('unknown' in treasury) return undefined
  const { balanceMicro, drawableMicro } = treasury.known
  const own = balanceMicro - owedMicro
  return least(own, drawableMicro) - promisedMicro
}

const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)

/** Returns the uncommitted rupiah at the provider. Undefined if the balance is unknown. */
export const freeMinorOf = ({ rupiah, unpaidMinor }: SystemFacts): bigint | undefined =>
  'unknown' in rupiah ? undefined : rupiah.known - unpaidMinor

/** Something that needs an operator, with its kind of alert. */
export type Need = {
  readonly alert: StatusAlert
  /** What is wrong, and the command to do next or the name of the alert. */
  readonly line: string
  /** Steps of the runbook. Undefined if the line has a command. */
  readonly steps?: string
}

/** `unread` are the parts that could not be checked. */
export type Attention = { readonly needs: readonly Need[]; readonly unread: readonly Need[] }

/**
 * Returns a need with the first command of its alert. If that is no other command of operators, the need has the steps
 * instead. `values` replace the placeholders of the command, such as `<payment>`.
 */
function need(alert: StatusAlert, says: string, values: Readonly<Record<string, string>> = {}): Need {
  const row = alertNamed(alert)
  const { command = '' } = row
  const isNext = command.startsWith('ops ') && command !== 'ops status'
  const filled = command.replaceAll(/<(\w+)>/g, (all, name: string) => values[name] ?? all)
  if (isNext) return { alert, line: `${says}: ${commandText(filled, ops)}` }
  const { command: _, ...rest } = row
  return { alert, line: `${says}: see ${alert}`, steps: instructionOf(command === 'ops status' ? rest : row, ops) }
}

export function attention(facts: SystemFacts | Unread, floors: Floors): Attention {
  const bus = busNeeds(facts.bus, floors)
  const unread =
    'unknown' in facts.bus ? [need('ServicesUnreachable', `cannot read the bus: ${facts.bus.unknown}`)] : []
  if ('unread' in facts) {
    const rows = need('MetricsMissing', `cannot read the rows: ${facts.unread}`)
    return { needs: bus, unread: [rows, ...unread] }
  }
  return {
    needs: [
      ...clockNeeds(facts),
      ...facts.paused.map((one) => need('Paused', pausedText(one), { what: one.what })),
      ...coverNeeds(facts, floors),
      ...facts.states.flatMap(stateNeeds),
      ...facts.lanes.flatMap(({ address, fault }) => laneNeeds(facts, floors, address, fault)),
      ...facts.outboxes
        .filter(({ oldestMs }) => oldestMs > outboxMaxMs)
        .map(({ service, waiting, oldestMs }) => {
          return need(
            'OutboxStuck',
            `outbox of ${service} is backed up: ${waiting} unsent, oldest ${ageText(oldestMs)}`,
          )
        }),
      ...facts.deadLetters
        .filter(({ count }) => count > 0)
        .map(({ service, count }) => {
          return need('DeadLetters', `${service} has ${counted(count, 'dead letter')}`)
        }),
      ...frozenNeeds(facts),
      ...needlessNeeds(facts),
      ...evidenceNeeds(facts),
      ...payoutNeeds(facts),
      ...secondWalletNeeds(facts),
      ...proposedNeeds(facts),
      ...failedFlagNeeds(facts),
      ...bus,
      ...listNeeds(facts.lists),
      ...comparedNeeds(facts),
      ...breakNeeds(facts),
      ...unexplainedNeeds(facts),
    ],
    unread: [...unread, ...externalUnread(facts)],
  }
}

/** Returns the lines of `ops status`. */
export const linesOf = ({ needs: found, unread }: Attention): string[] => [...unread, ...found].map(({ line }) => line)

/** Returns the steps for each alert that the lines name, as `<alert>: <steps>`. */
export const stepsOf = ({ needs: found, unread }: Attention): string[] => [
  ...new Set([...unread, ...found].flatMap(({ alert, steps }) => (steps ? [`${alert}: ${steps}`] : []))),
]

export const needs = (facts: SystemFacts | Unread, floors: Floors): string[] => linesOf(attention(facts, floors))

/** Command of the local stack. On a deployment, `oper infra/operations/cli/main.ts` replaces it. */
const ops = 'bun run ops'

function stateNeeds({ what, state, count, waitedMs }: InState): Need[] {
  if (state === 'review')
    return [need('PaymentNeedsReview', `${counted(count, what)} ${count === 1 ? 'needs' : 'need'} review`)]
  const limit = stateLimits[what].limits[state]
  if (!limit || !('afterMs' in limit) || waitedMs <= limit.afterMs) return []
  return [need('StateTooLong', `${what} ${state} for too long: ${count}, oldest ${ageText(waitedMs)}`)]
}

function clockNeeds({ clockAheadMs }: SystemFacts): Need[] {
  const apartMs = Math.abs(clockAheadMs)
  if (apartMs <= clockApartMaxMs) return []
  const side = clockAheadMs > 0 ? 'ahead of' : 'behind'
  return [need('DatabaseClockSet', `the clock of Postgres is ${ageText(apartMs)} ${side} this machine's`)]
}

function comparedNeeds({ books: { endedAt, ageMs } }: SystemFacts): Need[] {
  if (ageMs <= comparedMaxMs) return []
  const last = endedAt ? 'last reconciliation' : 'books not reconciled since the first payment'
  return [need('BooksNotReconciled', `${last} ${ageText(ageMs)} ago`)]
}

function unexplainedNeeds({ unexplained: { count, ausdMicro, oldestMs } }: SystemFacts): Need[] {
  if (count === 0) return []
  const ausd = `${moneyText(ausdMicro, 'AUSD')} (${counted(count, 'transfer')})`
  return [need('UnexplainedAusd', `unexplained AUSD in the treasury: ${ausd}, oldest ${ageText(oldestMs)}`)]
}

const frozenNeeds = ({ frozenWallets: count }: SystemFacts): Need[] =>
  count > 0 ? [need('WalletFrozen', `${counted(count, 'wallet')} ${count === 1 ? 'is' : 'are'} frozen`)] : []

const needlessNeeds = ({ needlessRepayments: count }: SystemFacts): Need[] =>
  count > 0 ? [need('NeedlessRepayment', `${counted(count, 'needless repayment')} to give back`)] : []

function evidenceNeeds({ evidenceDue: { count, leftMs, paymentId } }: SystemFacts): Need[] {
  if (count === 0) return []
  const first = leftMs > 0 ? `the first is lost in ${ageText(leftMs)}` : 'the first is overdue'
  const waits = `${counted(count, 'dispute')} ${count === 1 ? 'waits' : 'wait'} for evidence`
  return [need('EvidenceDue', `${waits}, ${first}`, { payment: paymentId })]
}

const payoutNeeds = ({ doubtfulPayouts: { count, payoutId: payout } }: SystemFacts): Need[] =>
  count === 0
    ? []
    : [need('PayoutNeedsReview', `${counted(count, 'payout')} ${count === 1 ? 'needs' : 'need'} review`, { payout })]

const secondWalletNeeds = ({ secondWallets: count }: SystemFacts): Need[] => {
  if (count === 0) return []
  const wallets = `${counted(count, 'wallet')} ${count === 1 ? 'is' : 'are'}`
  return [need('SecondWallet', `${wallets} of a person who has another wallet`)]
}

const proposedNeeds = ({ proposedCommands: count }: SystemFacts): Need[] =>
  count > 0
    ? [need('ApprovalAwaited', `${counted(count, 'command')} ${count === 1 ? 'waits' : 'wait'} for a second operator`)]
    : []

const failedFlagNeeds = ({ failedFlags: count }: SystemFacts): Need[] =>
  count > 0 ? [need('IdentityOrderFailed', `${counted(count, 'verdict')} not set on the chain`)] : []

function breakNeeds({ breaks }: SystemFacts): Need[] {
  const counting = breaks.filter(({ standing }) => standing === 'counts')
  if (counting.length === 0) return []
  const oldest = ageText(Math.max(...counting.map(({ ageMs }) => ageMs)))
  return [need('BooksBreakOpen', `${counted(counting.length, 'open break')} in the books, oldest ${oldest}`)]
}

/** Returns what NATS shows to be wrong. If NATS is down, the state of the services is unknown. */
function busNeeds(bus: ExternalAnswer<OnBus>, floors: Pick<Floors, 'copies'>): Need[] {
  if ('unknown' in bus) return []
  const { copies, down, heartbeats, lags, missing, rates } = bus.known
  return [
    // There is one instance of `operations`, however many the services have.
    ...processNames.flatMap((name) => copyNeeds(name, copies[name] ?? 0, name === 'operations' ? 1 : floors.copies)),
    ...down
      .filter(({ service }) => (copies[service] ?? 0) > 0)
      .map(({ service, state, since }) => {
        return need('InstanceDown', `an instance of ${service} does not respond (${state}), since ${since}`)
      }),
    ...missedAmong(heartbeats).map(({ through, ageMs, says }) => {
      const what = through === 'postgres' ? 'write' : 'message'
      return need('HeartbeatMissed', `${through} has taken no ${what} for ${ageText(ageMs)}: ${says ?? 'not tried'}`)
    }),
    ...missing.map(({ reader, stream }) =>
      need('ConsumerMissing', `consumer ${reader} of ${stream} is gone, its messages wait`),
    ),
    ...lagNeeds(lags),
    ...unpricedNeeds(rates),
  ]
}

/**
 * Compares the number of instances with the wanted one, because nats-server drops a hung instance within seconds and
 * nothing else shows that it is missing.
 */
function copyNeeds(name: string, answering: number, wanted: number): Need[] {
  if (answering === 0) return [need('ServiceDown', `${name} does not respond`)]
  return answering < wanted ? [need('InstanceDown', `${answering} of ${wanted} instances of ${name} respond`)] : []
}

function coverNeeds(facts: SystemFacts, { lowMicro, lowMinor }: Floors): Need[] {
  const [micro, minor] = [freeMicroOf(facts), freeMinorOf(facts)]
  const found: Need[] = []
  if (micro !== undefined && micro < 0n)
    found.push(need('TreasuryLow', `committed amount exceeds treasury balance by ${moneyText(-micro, 'AUSD')}`))
  else if (micro !== undefined && micro < lowMicro)
    found.push(need('TreasuryLow', `treasury is low: ${moneyText(micro, 'AUSD')} uncommitted`))
  if (minor !== undefined && minor < lowMinor)
    found.push(need('ProviderBalanceLow', `provider balance is low: ${moneyText(minor, 'IDR')} uncommitted`))
  return found
}

const externalUnread = ({ treasury, rupiah, coin }: SystemFacts): Need[] => [
  ...('unknown' in treasury ? [need('TreasuryUnreadable', `cannot read the treasury: ${treasury.unknown}`)] : []),
  ...('unknown' in rupiah
    ? [need('ProviderBalanceUnreadable', `cannot read the provider's balance: ${rupiah.unknown}`)]
    : []),
  ...[...coin].flatMap(([address, has]) =>
    'unknown' in has ? [need('EndpointFails', `cannot read the balance of lane ${address}: ${has.unknown}`)] : [],
  ),
]

function laneNeeds({ coin }: SystemFacts, { laneWei }: Floors, address: string, fault: string | null) {
  const found = blockedNeeds(address, fault)
  const has = coin.get(address)
  if (has && 'known' in has && has.known < laneWei)
    found.push(need('LaneBalanceLow', `lane ${address} needs native coin`))
  return found
}

/** Number of waiting messages that alerts; larger than the backlog that a restart leaves. */
const waitingMax = 1_000
/** Number of failed reads that alerts. Single failed reads are normal. */
const failuresMax = 3

const lagNeeds = (lags: readonly Lag[]): Need[] =>
  lags
    // A deployment need not have a push service, which would read as `integrator`.
    .filter(({ reader, waiting }) => reader !== 'integrator' && waiting > waitingMax)
    .map(({ reader, stream, waiting }) =>
      need('ConsumerBehind', `${reader} is ${counted(waiting, 'message')} behind ${stream}`),
    )

const listNeeds = (lists: readonly ListAge[]): Need[] =>
  lists
    .filter(({ failures }) => failures > failuresMax)
    .map(({ service, account, window, failures }) => {
      const list = `provider transaction list (${service}, ${account}, ${window})`
      return need('ProviderListIncomplete', `${list} failed ${counted(failures, 'time')} in a row`)
    })

const unpricedNeeds = (rates: readonly RateReading[]): Need[] =>
  rates.flatMap(({ pair, unavailable }) =>
    unavailable ? [need('RateUnusable', `no rate for ${pair}: ${unavailable}`)] : [],
  )

/** Returns a line for a blocked lane, which assigns no nonces. */
const blockedNeeds = (address: string, fault: string | null): Need[] =>
  fault ? [need('LaneBlocked', `lane ${address} is blocked: ${fault}`)] : []
