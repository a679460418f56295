import { ageText } from '#infra/operations/books/text'
import { reading } from '#infra/operations/cli/command'
import { operatorPlace } from '#infra/operations/place'
import { counted, rateText, sentence } from '#infra/operations/text'
import { variableIn } from '#platform/config'
import type { RateState } from '#shared/messages/pricing'
import { moneyText } from '#shared/money/text'
import { fields as relayer } from '../../../services/chain-relayer/config'
import { fields as payments } from '../../../services/payments/config'
import { fields as payouts } from '../../../services/payouts/config'
import { type Attention, attention, type Floors, freeMicroOf, freeMinorOf, linesOf, stepsOf } from '../health/attention'
import type { RateReading } from '../health/bus'
import type { ExternalAnswer } from '../health/external'
import { readFacts, type SystemFacts } from '../health/facts'

/** Returns the limits below which `ops status` reports a balance. */
export function floorsOf(copies: number, env: NodeJS.ProcessEnv = process.env): Floors {
  const set = (name: string, { fallback = '0' }: { fallback?: string }) => BigInt(variableIn(env, name) ?? fallback)
  return {
    lowMicro: set('TREASURY_LOW_AUSD', payments.TREASURY_LOW_AUSD) * 1_000_000n,
    lowMinor: set('BALANCE_LOW_IDR', payouts.BALANCE_LOW_IDR),
    laneWei:
      set('LANE_MIN_BALANCE_WEI', relayer.LANE_MIN_BALANCE_WEI) + set('LANE_REFILL_WEI', relayer.LANE_REFILL_WEI),
    copies,
  }
}

export const status = reading({
  does: 'show items in progress, uncommitted balances and problems',
  usage: 'status [--copies N] [--json]',
  options: { copies: { type: 'string', default: '1' } },
  faultIn: (_, { copies }) => (/^[1-9][0-9]{0,2}$/.test(String(copies)) ? undefined : '--copies must be from 1 to 999'),
  read: async ({ options }, operator) => {
    const facts = await readFacts({ ...operator, place: operatorPlace() })
    const judged = attention(facts, floorsOf(Number(options.copies)))
    const lines = linesOf(judged)
    if ('unread' in facts) {
      const text = [...busText(facts.bus), '', ...needsText(judged)].join('\n')
      return { text, data: { needs: lines, bus: facts.bus }, ok: false }
    }
    return { text: asText(facts, judged), data: dataOf(facts, lines), ok: lines.length === 0 }
  },
})

const dataOf = (facts: SystemFacts, lines: readonly string[]): object => ({
  needs: lines,
  ...facts,
  coin: Object.fromEntries(facts.coin),
  freeMicro: freeMicroOf(facts) ?? null,
  freeMinor: freeMinorOf(facts) ?? null,
})

const orUnknown = <T>(asked: ExternalAnswer<T>, write: (known: T) => string): string =>
  'known' in asked ? write(asked.known) : 'unknown'

const row = (name: string, ...cells: string[]) => `${name.padEnd(26)} ${cells.filter(Boolean).join('  ')}`

function asText(facts: SystemFacts, judged: Attention): string {
  const { treasury, rupiah, owedMicro, promisedMicro, unpaidMinor, coin, books } = facts
  const [micro, minor] = [freeMicroOf(facts), freeMinorOf(facts)]
  return [
    ...facts.states.map(({ what, state, count, oldestMs, sums }) =>
      row(`${what} ${state}`, String(count), ageText(oldestMs), sumsInWords(sums)),
    ),
    ...(facts.states.length === 0 ? ['nothing in progress'] : []),
    ...(facts.heldCashouts > 0 ? [row('payouts held by operators', String(facts.heldCashouts))] : []),
    ...(facts.refusedAccounts > 0 ? [row('bank accounts refused', String(facts.refusedAccounts))] : []),
    row(
      'treasury',
      orUnknown(treasury, (known) => moneyText(known.balanceMicro, 'AUSD')),
    ),
    row('  owed to cash-outs', moneyText(owedMicro, 'AUSD')),
    row('  committed', moneyText(promisedMicro, 'AUSD')),
    row('  uncommitted', micro === undefined ? 'unknown' : moneyText(micro, 'AUSD')),
    row(
      "provider's balance",
      orUnknown(rupiah, (known) => moneyText(known, 'IDR')),
    ),
    row('  committed', moneyText(unpaidMinor, 'IDR')),
    row('  uncommitted', minor === undefined ? 'unknown' : moneyText(minor, 'IDR')),
    ...[...coin].map(([lane, has]) =>
      row(
        `lane ${lane.slice(0, 10)}…`,
        orUnknown(has, (wei) => moneyText(wei, 'MON')),
      ),
    ),
    ...facts.outboxes.map(({ service, waiting, oldestMs }) =>
      row(`outbox of ${service}`, String(waiting), ageText(oldestMs)),
    ),
    row(
      'books',
      books.endedAt ? `reconciled ${ageText(books.ageMs)} ago` : 'never reconciled',
      breaksText(facts.breaks),
    ),
    ...facts.lists.map(({ service, account, window, ageMs, failures }) =>
      row(
        `list ${account} ${window}, ${service}`,
        ageMs === null ? 'not read yet' : `read ${ageText(ageMs)} ago`,
        ...(failures > 0 ? [`failed ${counted(failures, 'time')} since`] : []),
      ),
    ),
    ...busText(facts.bus),
    '',
    ...needsText(judged),
  ].join('\n')
}

export function breaksText(breaks: SystemFacts['breaks']): string {
  const ofStanding = (wanted: string) => breaks.filter(({ standing }) => standing === wanted).length
  const [young, rests] = [ofStanding('young'), ofStanding('rests')]
  return sentence(
    `${breaks.length} open`,
    young > 0 && `${young} within grace period`,
    rests > 0 && `${rests} explained`,
  )
}

export function needsText(judged: Attention): string[] {
  const [lines, steps] = [linesOf(judged), stepsOf(judged)]
  if (lines.length === 0) return ['nothing needs attention']
  const listed = (title: string, texts: readonly string[]) => [title, ...texts.map((text) => `  ${text}`)]
  return [...listed('needs attention:', lines), ...(steps.length > 0 ? listed('to do:', steps) : [])]
}

/** Why cash-outs have no rate in a state in which they may have none. */
const withoutCashouts: Readonly<Partial<Record<RateState, string>>> = {
  market_closed: 'the market is closed, and no open one confirms it',
  no_cross_check: 'no other source confirms it',
  sources_differ: 'the sources differ',
}

/** Returns what `status` says of a pair's rate. Only rupiah are paid out. */
export function ratesText({ pair, rate, source, ageMs, state, cashoutRate, unavailable }: RateReading): string[] {
  if (unavailable !== undefined) return [unavailable]
  const why = pair === 'USD/IDR' && cashoutRate === null && state ? withoutCashouts[state] : undefined
  return [
    `${rateText(rate!, pair.split('/')[1]!)} from ${source}`,
    ...(ageMs ? [`${ageText(ageMs)} old`] : []),
    ...(why ? [`no rate for cash-outs: ${why}`] : []),
  ]
}

function busText(bus: SystemFacts['bus']): string[] {
  if ('unknown' in bus) return [row('bus', 'not read')]
  const { copies, lags, rates } = bus.known
  return [
    ...rates.map((reading) => row(reading.pair, ...ratesText(reading))),
    ...lags.map(({ reader, stream, waiting, underWay }) =>
      row(`${stream} to ${reader}`, `${waiting} waiting`, `${underWay} in progress`),
    ),
    row(
      'responding',
      Object.entries(copies)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
    ),
  ]
}

const sumsInWords = (sums: Record<string, string>): string =>
  Object.entries(sums)
    .map(([asset, amount]) => moneyText(BigInt(amount), asset))
    .join(' ')
