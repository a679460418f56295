import { ageText } from '#infra/books/text'
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
import type { Rows } from './facts'
import type { Asked, TreasuryHolds } from './outside'

/** Everything `bun run ops status` knows. Amounts in smallest units. */
export type Facts = Rows & {
  treasury: Asked<TreasuryHolds>
  rupiah: Asked<bigint>
  coin: ReadonlyMap<string, Asked<bigint>>
  bus: Asked<OnBus>
}

/** Below these a person is needed: to fill up, or to look after a copy that does not answer. */
export type Floors = { lowMicro: bigint; lowMinor: bigint; laneWei: bigint; copies: number }

const minute = 60_000
/** How long anything may be in a state; in a state that is not here, for ever. */
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

/** AUSD of the treasury that is promised to nobody. */
export const freeMicroOf = ({ treasury, owedMicro, promisedMicro }: Facts): bigint | undefined => {
  if ('unknown' in treasury) return undefined
  const { balanceMicro, drawableMicro } = treasury.known
  const own = balanceMicro - owedMicro
  return least(own, drawableMicro) - promisedMicro
}

const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)

/** Rupiah at the provider that are promised to nobody. */
export const freeMinorOf = ({ rupiah, unpaidMinor }: Facts): bigint | undefined =>
  'unknown' in rupiah ? undefined : rupiah.known - unpaidMinor

/** What needs a person, a line each; empty when money is moving. Pure. */
export const needs = (facts: Facts, floors: Floors): string[] => [
  ...facts.paused.map((one) => `${pausedText(one)}: ${ops} resume ${one.what}`),
  ...coverNeeds(facts, floors),
  ...facts.states.flatMap(({ what, state, count, oldestMs }) => {
    if (state === 'review')
      return [
        `${counted(count, what)} ${count === 1 ? 'waits' : 'wait'} for a person: ${ops} review list`,
      ]
    const maxMs = statesMaxMs.get(`${what} ${state}`)
    if (maxMs === undefined || oldestMs <= maxMs) return []
    return [
      `${what} ${state} for too long: ${count}, the oldest for ${ageText(oldestMs)}: ${ops} in-flight`,
    ]
  }),
  ...facts.lanes.flatMap(({ address, fault }) => laneNeeds(facts, floors, address, fault)),
  ...facts.outboxes
    .filter(({ oldestMs }) => oldestMs > outboxMaxMs)
    .map(({ service, waiting, oldestMs }) => {
      return `${service} does not get rid of ${counted(waiting, 'message')}, the oldest ${ageText(oldestMs)} old: ${ops} in-flight`
    }),
  ...facts.deadLetters
    .filter(({ count }) => count > 0)
    .map(({ service, count }) => {
      return `${service} gave up on ${counted(count, 'message')}: ${ops} dead-letters list`
    }),
  ...frozenNeeds(facts),
  ...busNeeds(facts.bus, floors),
  ...listNeeds(facts.lists),
  ...(facts.books && Date.now() - facts.books.endedAt.getTime() > comparedMaxMs
    ? [
        `the books were compared ${ageText(Date.now() - facts.books.endedAt.getTime())} ago: ${ops} reconcile`,
      ]
    : []),
  ...breakNeeds(facts),
]

/** How somebody on this machine types a verb; the runbook says what stands for it elsewhere. */
const ops = 'bun run ops'

const frozenNeeds = ({ frozenWallets: count }: Facts): string[] =>
  count > 0
    ? [`${counted(count, 'wallet')} ${count === 1 ? 'is' : 'are'} frozen: ${ops} wallets list`]
    : []

/** What is young may only be on its way, and of what rests somebody has said so: neither calls a person. */
function breakNeeds({ breaks }: Facts): string[] {
  const counting = breaks.filter(({ standing }) => standing === 'counts')
  if (counting.length === 0) return []
  const oldest = ageText(Math.max(...counting.map(({ ageMs }) => ageMs)))
  return [
    `the books have ${counted(counting.length, 'open break')}, the oldest ${oldest} old: ${ops} reconcile`,
  ]
}

/** What of the bus needs a person; that it cannot be reached does. */
export function busNeeds(bus: Facts['bus'], floors: Pick<Floors, 'copies'>): string[] {
  if ('unknown' in bus) return [`the bus cannot be seen: ${bus.unknown}`]
  const { copies, lags, rates } = bus.known
  return [
    ...serviceNames.flatMap((name) => copyNeeds(name, copies[name] ?? 0, floors.copies)),
    ...lagNeeds(lags),
    ...unpricedNeeds(rates),
  ]
}

/** A copy that hangs is dropped by nats-server within seconds: only who knows how many there should be misses it. */
function copyNeeds(name: string, answering: number, wanted: number): string[] {
  if (answering === 0) return [`${name} does not answer`]
  return answering < wanted ? [`${answering} of ${wanted} copies of ${name} answer`] : []
}

function coverNeeds(facts: Facts, { lowMicro, lowMinor }: Floors): string[] {
  const [micro, minor] = [freeMicroOf(facts), freeMinorOf(facts)]
  const { treasury, rupiah } = facts
  const lines: string[] = []
  if ('unknown' in treasury) lines.push(`the treasury cannot be read: ${treasury.unknown}`)
  if ('unknown' in rupiah) lines.push(`the provider's balance cannot be read: ${rupiah.unknown}`)
  if (micro !== undefined && micro < 0n)
    lines.push(`${moneyText(-micro, 'AUSD')} more are promised than the treasury has`)
  else if (micro !== undefined && micro < lowMicro)
    lines.push(`the treasury runs short: ${moneyText(micro, 'AUSD')} are free`)
  if (minor !== undefined && minor < lowMinor)
    lines.push(`the provider runs short: ${moneyText(minor, 'IDR')} are free`)
  return lines
}

function laneNeeds({ coin }: Facts, { laneWei }: Floors, address: string, fault: string | null) {
  const lines = blockedNeeds(address, fault)
  const has = coin.get(address)
  if (has && 'unknown' in has) lines.push(`coin of lane ${address} is unknown: ${has.unknown}`)
  if (has && 'known' in has && has.known < laneWei) lines.push(`lane ${address} needs a refill`)
  return lines
}
