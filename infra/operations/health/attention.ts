import { ageText } from '#infra/operations/books/text'
import { counted } from '#infra/operations/text'
import type { Limits } from '#platform/metrics/state-limits'
import { processNames } from '#shared/messages/topic'
import { moneyText } from '#shared/money/text'
import { fields as relayerFields } from '../../../services/chain-relayer/config'
import { limitsOf as operationLimits } from '../../../services/chain-relayer/operations/operation'
import { limits as identityLimits } from '../../../services/gateway/identity/identity'
import { limits as paymentLimits } from '../../../services/payments/payment'
import { limits as cashoutLimits } from '../../../services/payouts/cashout'
import type { Lag, OnBus, RateReading } from './bus'
import type { ExternalAnswer } from './external'
import type { SystemFacts, Unread } from './facts'
import { missedAmong } from './heartbeat'
import { pausedText } from './pauses'
import type { ListAge } from './provider-lists'
import type { InState } from './rows'

export type Floors = { lowMicro: bigint; lowMinor: bigint; laneWei: bigint; copies: number }

const limits: Readonly<Record<InState['what'], Limits<string>>> = {
  payment: paymentLimits,
  payout: cashoutLimits,
  operation: operationLimits(Number(relayerFields.OLDEST_ALARM_MS.fallback)),
  identity: identityLimits,
}

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

export type Attention = { readonly needs: readonly string[]; readonly unread: readonly string[] }

export function attention(facts: SystemFacts | Unread, floors: Floors): Attention {
  const bus = busNeeds(facts.bus, floors)
  const unread = 'unknown' in facts.bus ? [`cannot read the bus: ${facts.bus.unknown}`] : []
  if ('unread' in facts) return { needs: bus, unread: [`cannot read the rows: ${facts.unread}`, ...unread] }
  return {
    needs: [
      ...facts.paused.map((one) => `${pausedText(one)}: ${ops} resume ${one.what}`),
      ...coverNeeds(facts, floors),
      ...facts.states.flatMap(stateNeeds),
      ...facts.lanes.flatMap(({ address, fault }) => laneNeeds(facts, floors, address, fault)),
      ...facts.outboxes
        .filter(({ oldestMs }) => oldestMs > outboxMaxMs)
        .map(({ service, waiting, oldestMs }) => {
          return `outbox of ${service} is backed up: ${waiting} unsent, oldest ${ageText(oldestMs)}: ${ops} in-flight`
        }),
      ...facts.deadLetters
        .filter(({ count }) => count > 0)
        .map(({ service, count }) => {
          return `${service} has ${counted(count, 'dead letter')}: ${ops} dead-letters list`
        }),
      ...frozenNeeds(facts),
      ...needlessNeeds(facts),
      ...evidenceNeeds(facts),
      ...secondWalletNeeds(facts),
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

export function needs(facts: SystemFacts | Unread, floors: Floors): string[] {
  const judged = attention(facts, floors)
  return [...judged.unread, ...judged.needs]
}

/** Command of the local stack. On a deployment, `oper infra/operations/cli/main.ts` replaces it. */
const ops = 'bun run ops'

function stateNeeds({ what, state, count, oldestMs }: InState): string[] {
  if (state === 'review')
    return [`${counted(count, what)} ${count === 1 ? 'needs' : 'need'} review: ${ops} review list`]
  const limit = limits[what][state]
  if (!limit || !('afterMs' in limit) || oldestMs <= limit.afterMs) return []
  return [`${what} ${state} for too long: ${count}, oldest ${ageText(oldestMs)}: ${ops} in-flight`]
}

function comparedNeeds({ books: { endedAt, ageMs } }: SystemFacts): string[] {
  if (ageMs <= comparedMaxMs) return []
  return endedAt
    ? [`last reconciliation ${ageText(ageMs)} ago: ${ops} reconcile`]
    : [`books not reconciled since the first payment ${ageText(ageMs)} ago: ${ops} reconcile`]
}

function unexplainedNeeds({ unexplained: { count, ausdMicro, oldestMs } }: SystemFacts): string[] {
  if (count === 0) return []
  const ausd = `${moneyText(ausdMicro, 'AUSD')} (${counted(count, 'transfer')})`
  return [`unexplained AUSD in the treasury: ${ausd}, oldest ${ageText(oldestMs)}: ${ops} unexplained list`]
}

const frozenNeeds = ({ frozenWallets: count }: SystemFacts): string[] =>
  count > 0 ? [`${counted(count, 'wallet')} ${count === 1 ? 'is' : 'are'} frozen: ${ops} wallets list`] : []

const needlessNeeds = ({ needlessRepayments: count }: SystemFacts): string[] =>
  count > 0 ? [`${counted(count, 'needless repayment')} to give back: ${ops} wallets list`] : []

function evidenceNeeds({ evidenceDue: { count, leftMs, paymentId } }: SystemFacts): string[] {
  if (count === 0) return []
  const first = leftMs > 0 ? `the first is lost in ${ageText(leftMs)}` : 'the first is overdue'
  return [
    `${counted(count, 'dispute')} ${count === 1 ? 'waits' : 'wait'} for evidence, ${first}: ${ops} trace ${paymentId}`,
  ]
}

const secondWalletNeeds = ({ secondWallets: count }: SystemFacts): string[] => {
  if (count === 0) return []
  const wallets = `${counted(count, 'wallet')} ${count === 1 ? 'is' : 'are'}`
  return [`${wallets} of a person who has another wallet: ${ops} persons list`]
}

const failedFlagNeeds = ({ failedFlags: count }: SystemFacts): string[] =>
  count > 0 ? [`${counted(count, 'verdict')} not set on the chain: ${ops} persons list`] : []

function breakNeeds({ breaks }: SystemFacts): string[] {
  const counting = breaks.filter(({ standing }) => standing === 'counts')
  if (counting.length === 0) return []
  const oldest = ageText(Math.max(...counting.map(({ ageMs }) => ageMs)))
  return [`${counted(counting.length, 'open break')} in the books, oldest ${oldest}: ${ops} reconcile`]
}

/** Returns what NATS shows to be wrong. If NATS is down, the state of the services is unknown. */
function busNeeds(bus: ExternalAnswer<OnBus>, floors: Pick<Floors, 'copies'>): string[] {
  if ('unknown' in bus) return []
  const { copies, down, heartbeats, lags, missing, rates } = bus.known
  return [
    ...processNames.flatMap((name) => copyNeeds(name, copies[name] ?? 0, floors.copies)),
    ...down
      .filter(({ service }) => (copies[service] ?? 0) > 0)
      .map(({ service, state, since }) => {
        return `an instance of ${service} does not respond (${state}), since ${since}`
      }),
    ...missedAmong(heartbeats).map(
      ({ through, ageMs, says }) =>
        `${through} has taken no ${through === 'postgres' ? 'write' : 'message'} for ${ageText(ageMs)}: ${says ?? 'not tried'}`,
    ),
    ...missing.map(
      ({ reader, stream }) => `consumer ${reader} of ${stream} is gone, its messages wait: provision NATS`,
    ),
    ...lagNeeds(lags),
    ...unpricedNeeds(rates),
  ]
}

/**
 * Compares the number of instances with the wanted one, because nats-server drops a hung instance within seconds and
 * nothing else shows that it is missing.
 */
function copyNeeds(name: string, answering: number, wanted: number): string[] {
  if (answering === 0) return [`${name} does not respond`]
  return answering < wanted ? [`${answering} of ${wanted} instances of ${name} respond`] : []
}

function coverNeeds(facts: SystemFacts, { lowMicro, lowMinor }: Floors): string[] {
  const [micro, minor] = [freeMicroOf(facts), freeMinorOf(facts)]
  const lines: string[] = []
  if (micro !== undefined && micro < 0n)
    lines.push(`committed amount exceeds treasury balance by ${moneyText(-micro, 'AUSD')}`)
  else if (micro !== undefined && micro < lowMicro)
    lines.push(`treasury is low: ${moneyText(micro, 'AUSD')} uncommitted`)
  if (minor !== undefined && minor < lowMinor)
    lines.push(`provider balance is low: ${moneyText(minor, 'IDR')} uncommitted`)
  return lines
}

const externalUnread = ({ treasury, rupiah, coin }: SystemFacts): string[] => [
  ...('unknown' in treasury ? [`cannot read the treasury: ${treasury.unknown}`] : []),
  ...('unknown' in rupiah ? [`cannot read the provider's balance: ${rupiah.unknown}`] : []),
  ...[...coin].flatMap(([address, has]) =>
    'unknown' in has ? [`cannot read the balance of lane ${address}: ${has.unknown}`] : [],
  ),
]

function laneNeeds({ coin }: SystemFacts, { laneWei }: Floors, address: string, fault: string | null) {
  const lines = blockedNeeds(address, fault)
  const has = coin.get(address)
  if (has && 'known' in has && has.known < laneWei) lines.push(`lane ${address} needs native coin`)
  return lines
}

/** Age of an outbox row that shows that publishing fails. */
const outboxMaxMs = 60_000

/** Maximum age of a comparison. The books are compared every minute. */
const comparedMaxMs = 600_000

/** Number of waiting messages that alerts; larger than the backlog that a restart leaves. */
const waitingMax = 1_000
/** Number of failed reads that alerts. Single failed reads are normal. */
const failuresMax = 3

const lagNeeds = (lags: readonly Lag[]): string[] =>
  lags
    // A deployment need not have a push service, which would read as `integrator`.
    .filter(({ reader, waiting }) => reader !== 'integrator' && waiting > waitingMax)
    .map(({ reader, stream, waiting }) => `${reader} is ${counted(waiting, 'message')} behind ${stream}`)

const listNeeds = (lists: readonly ListAge[]): string[] =>
  lists
    .filter(({ failures }) => failures > failuresMax)
    .map(
      ({ service, account, window, failures }) =>
        `provider transaction list (${service}, ${account}, ${window}) failed ${counted(failures, 'time')} in a row`,
    )

const unpricedNeeds = (rates: readonly RateReading[]): string[] =>
  rates.flatMap(({ pair, unavailable }) => (unavailable ? [`no rate for ${pair}: ${unavailable}`] : []))

/** Returns a line for a blocked lane, which assigns no nonces. */
const blockedNeeds = (address: string, fault: string | null): string[] =>
  fault ? [`lane ${address} is blocked: ${fault}`] : []
