import { ageText } from '#infra/operations/books/text'
import { serviceNames } from '#shared/messages/topic'
import { moneyText } from '#shared/money/text'
import {
  blockedNeeds,
  comparedMaxMs,
  lagNeeds,
  listNeeds,
  outboxMaxMs,
  unpricedNeeds,
} from '#shared/standing/needs'
import { pausedText } from '#shared/standing/pauses'
import { counted } from '#shared/trace/words'
import type { OnBus } from './bus'
import type { Asked, TreasuryHolds } from './external'
import type { Rows } from './facts'

/** State on which `bun run ops status` decides. Amounts in smallest units. */
export type Facts = Rows & {
  treasury: Asked<TreasuryHolds>
  rupiah: Asked<bigint>
  coin: ReadonlyMap<string, Asked<bigint>>
  bus: Asked<OnBus>
}

/** Minimum balances and instances. */
export type Floors = { lowMicro: bigint; lowMinor: bigint; laneWei: bigint; copies: number }

const minute = 60_000
/** Maximum time in a state. States missing here have no limit. */
const statesMaxMs: ReadonlyMap<string, number> = new Map([
  ['payment opening', 30 * minute],
  ['payment awaiting_payment', 120 * minute],
  ['payment expired', 60 * minute], // Late money without a rate.
  ['payment replaced', 60 * minute],
  ['payment paid', 10 * minute],
  ['payment revoking', 10 * minute],
  ['payment refunding', 24 * 60 * minute],
  ['payment held', 8 * 24 * 60 * minute],
  ['payout taking', 15 * minute],
  ['payout taken', 10 * minute],
  ['payout paying', 120 * minute],
  ['payout returning', 10 * minute],
  ['operation waiting', 5 * minute],
  ['operation assigned', 5 * minute],
])

/** Uncommitted treasury AUSD. */
export const freeMicroOf = ({ treasury, owedMicro, promisedMicro }: Facts): bigint | undefined => {
  if ('unknown' in treasury) return undefined
  const { balanceMicro, drawableMicro } = treasury.known
  const own = balanceMicro - owedMicro
  return least(own, drawableMicro) - promisedMicro
}

const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)

/** Uncommitted rupiah at the provider. */
export const freeMinorOf = ({ rupiah, unpaidMinor }: Facts): bigint | undefined =>
  'unknown' in rupiah ? undefined : rupiah.known - unpaidMinor

/** One line per problem; empty if nothing needs attention. */
export const needs = (facts: Facts, floors: Floors): string[] => [
  ...facts.paused.map((one) => `${pausedText(one)}: ${ops} resume ${one.what}`),
  ...coverNeeds(facts, floors),
  ...facts.states.flatMap(({ what, state, count, oldestMs }) => {
    if (state === 'review')
      return [
        `${counted(count, what)} ${count === 1 ? 'needs' : 'need'} review: ${ops} review list`,
      ]
    const maxMs = statesMaxMs.get(`${what} ${state}`)
    if (maxMs === undefined || oldestMs <= maxMs) return []
    return [
      `${what} ${state} for too long: ${count}, oldest ${ageText(oldestMs)}: ${ops} in-flight`,
    ]
  }),
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
  ...busNeeds(facts.bus, floors),
  ...listNeeds(facts.lists),
  ...(facts.books && Date.now() - facts.books.endedAt.getTime() > comparedMaxMs
    ? [
        `last reconciliation ${ageText(Date.now() - facts.books.endedAt.getTime())} ago: ${ops} reconcile`,
      ]
    : []),
  ...breakNeeds(facts),
]

/** Command prefix on a local stack. On a deployment, `oper infra/operations/cli/main.ts` replaces it. */
const ops = 'bun run ops'

const frozenNeeds = ({ frozenWallets: count }: Facts): string[] =>
  count > 0
    ? [`${counted(count, 'wallet')} ${count === 1 ? 'is' : 'are'} frozen: ${ops} wallets list`]
    : []

/** Breaks within their grace period and explained ones need no attention. */
function breakNeeds({ breaks }: Facts): string[] {
  const counting = breaks.filter(({ standing }) => standing === 'counts')
  if (counting.length === 0) return []
  const oldest = ageText(Math.max(...counting.map(({ ageMs }) => ageMs)))
  return [
    `${counted(counting.length, 'open break')} in the books, oldest ${oldest}: ${ops} reconcile`,
  ]
}

/** Problems seen on the bus, or that it cannot be reached. */
export function busNeeds(bus: Facts['bus'], floors: Pick<Floors, 'copies'>): string[] {
  if ('unknown' in bus) return [`cannot read the bus: ${bus.unknown}`]
  const { copies, lags, rates } = bus.known
  return [
    ...serviceNames.flatMap((name) => copyNeeds(name, copies[name] ?? 0, floors.copies)),
    ...lagNeeds(lags),
    ...unpricedNeeds(rates),
  ]
}

/** nats-server drops a hung instance within seconds, so the number of instances must be known. */
function copyNeeds(name: string, answering: number, wanted: number): string[] {
  if (answering === 0) return [`${name} does not respond`]
  return answering < wanted ? [`${answering} of ${wanted} instances of ${name} respond`] : []
}

function coverNeeds(facts: Facts, { lowMicro, lowMinor }: Floors): string[] {
  const [micro, minor] = [freeMicroOf(facts), freeMinorOf(facts)]
  const { treasury, rupiah } = facts
  const lines: string[] = []
  if ('unknown' in treasury) lines.push(`cannot read the treasury: ${treasury.unknown}`)
  if ('unknown' in rupiah) lines.push(`cannot read the provider's balance: ${rupiah.unknown}`)
  if (micro !== undefined && micro < 0n)
    lines.push(`committed amount exceeds treasury balance by ${moneyText(-micro, 'AUSD')}`)
  else if (micro !== undefined && micro < lowMicro)
    lines.push(`treasury is low: ${moneyText(micro, 'AUSD')} uncommitted`)
  if (minor !== undefined && minor < lowMinor)
    lines.push(`provider balance is low: ${moneyText(minor, 'IDR')} uncommitted`)
  return lines
}

function laneNeeds({ coin }: Facts, { laneWei }: Floors, address: string, fault: string | null) {
  const lines = blockedNeeds(address, fault)
  const has = coin.get(address)
  if (has && 'unknown' in has)
    lines.push(`cannot read the balance of lane ${address}: ${has.unknown}`)
  if (has && 'known' in has && has.known < laneWei) lines.push(`lane ${address} needs native coin`)
  return lines
}
