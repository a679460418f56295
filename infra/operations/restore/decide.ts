import type { Place } from '#infra/operations/place'
import { finalizedBlock, type LogNode, readAtAny } from '#infra/operations/record/chain-log'
import { Misconfigured } from '#platform/config'
import { type BusPlace, readBus } from './bus'
import { type Erased, findPaid } from './erased'
import { type Explained, explain, type Names, namesWith } from './explain'
import { type FoundHolds, findHolds } from './holds'
import type { KnownRows } from './known'
import { blockAt, type LaneTransaction, readLane } from './lane'
import { findPayments } from './lost-payments'
import { findPayouts, findReturns } from './lost-payouts'
import { operationOf } from './operations'
import { openProvider } from './provider'
import type { PutBack } from './put-back'
import type { FoundPayments, FoundReturns, LostPayout, LostRows, World } from './world'

export type RestoreOptions = {
  since: Date
  accept: readonly string[]
  checkouts: readonly string[]
  giveBack: readonly string[]
  /** Cash-outs that operators held since the backup. */
  hold: readonly string[]
  erased: Erased
}
export type RestoreSources = { place: Place; bus: BusPlace }

export type RestoreDecision = {
  known: KnownRows
  /** True if chain-relayer is running. Then neither lanes nor cash-outs were read. */
  relayerRuns: boolean
  busLostUntil: Date | undefined
  payments: FoundPayments
  payouts: LostRows<LostPayout>
  returned: FoundReturns
  held: FoundHolds
  sent: readonly { transaction: LaneTransaction; why: readonly Explained[]; open: boolean }[]
  unexplained: readonly LaneTransaction[]
  undecided: readonly string[]
  erased: Erased
  paidCashouts: readonly string[]
  names: Names
  treasury: string
}

/** Margin before the backup, in ms. Items open at the backup may have finished shortly before it, and clocks differ. */
const marginMs = 600_000
const readFrom = (since: Date) => new Date(since.getTime() - marginMs)

/** Refusal to restore. While chain-relayer runs, its lanes may still send transactions. */
export const mustStop = 'chain-relayer is running or stopped a moment ago, and a lane is blocked: stop it first'

export async function decide(
  { place, ...sources }: RestoreSources,
  known: KnownRows,
  asked: RestoreOptions,
): Promise<RestoreDecision> {
  const from = readFrom(asked.since)
  const relayerRuns = known.lanes.some(({ isLeased }) => isLeased)
  const lanes = relayerRuns ? [] : await readAtAny(place.rpcUrls, (node) => readLanes(node, place, known, from))
  const bus = await readBus(sources.bus, from)
  if (!place.provider) throw new Misconfigured('PROVIDER_ID_SECRET_KEY is not set')
  const provider = openProvider(place.provider)
  const listed = await provider.list(['payment', 'payout'], from)
  const treasury = place.treasury.toLowerCase()
  const world: World = { ...asked, known, bus, provider, listed, lanes, treasury }
  const payments = await findPayments(world)
  const payouts = relayerRuns ? { rows: [], lines: [], undecided: [] } : await findPayouts(world)
  const returned = relayerRuns ? { returns: [], dropped: [], lines: [], undecided: [] } : await findReturns(world)
  const held = findHolds(asked.hold, { known, payouts, returned })
  const names = namesWith(known, bus, payments, payouts, lanes)
  const sent = lanes.map((transaction) => {
    const why = explain(transaction, names, treasury)
    const accepted = asked.accept.includes(transaction.hash)
    return { transaction, why, open: !accepted && why.some(({ unexplained }) => unexplained) }
  })
  const erased = new Map([...asked.erased, ...bus.erased])
  const restored = payouts.rows.map(({ id, wallet }) => [id, wallet.toLowerCase()] as const)
  const paidCashouts = await findPaid(erased, new Map([...known.openCashouts, ...restored]), provider)
  const unexplained = sent.flatMap(({ transaction, open }) => (open ? [transaction] : []))
  return {
    known,
    relayerRuns,
    payments,
    payouts,
    returned,
    held,
    sent,
    unexplained,
    names,
    treasury,
    erased,
    paidCashouts,
    busLostUntil: bus.since > asked.since ? bus.since : undefined,
    undecided: [
      ...payments.undecided,
      ...payouts.undecided,
      ...returned.undecided,
      ...held.undecided,
      ...unexplained.map(
        ({ hash }) => `transaction ${hash}: unexplained; find out why it was sent, then add --accept ${hash}`,
      ),
      ...(relayerRuns && known.lanes.some(({ fault }) => fault) ? [mustStop] : []),
    ],
  }
}

async function readLanes(node: LogNode, place: Place, known: KnownRows, since: Date): Promise<LaneTransaction[]> {
  const head = await finalizedBlock(node)
  const span = {
    since: await blockAt(node, BigInt(Math.floor(since.getTime() / 1_000)), head),
    head,
  }
  const all: LaneTransaction[] = []
  for (const { address, nextNonce } of known.lanes) {
    const fromNonce = Math.min(nextNonce, known.openFrom.get(address) ?? nextNonce)
    const read = await readLane(node, place, { address, fromNonce }, span)
    all.push(...read.filter(({ hash }) => !known.signed.has(hash)))
  }
  return all
}

export function tell({
  known,
  busLostUntil,
  payments,
  payouts,
  returned,
  held,
  sent,
  ...rest
}: RestoreDecision): string[] {
  const lanes = rest.relayerRuns ? [] : known.lanes
  return [
    ...(busLostUntil
      ? [
          `JetStream lost its store: it has nothing before ${busLostUntil.toISOString()}`,
          'erasures of personal data since the backup: add --erased for each line of the newest list',
        ]
      : []),
    ...(rest.erased.size > 0 ? [`to erase again: ${rest.erased.size} wallets`] : []),
    `to restore: ${payments.rows.length} payments, ${payouts.rows.length} cash-outs`,
    ...[...payments.lines, ...payouts.lines, ...returned.lines, ...held.lines].map((line) => `  ${line}`),
    ...lanes.flatMap(({ address, nextNonce }) => {
      const own = sent.filter(({ transaction }) => transaction.lane === address)
      return [
        `lane ${address}: next nonce ${nextNonce}, ${own.length} unknown transactions`,
        ...own.flatMap(({ transaction: { nonce, hash }, why, open }) => [
          `  ${open ? '?' : ' '} ${nonce}  ${hash}`,
          ...why.map(({ line }) => `       ${line}`),
        ]),
      ]
    }),
    ...rest.undecided.map((line) => `to decide: ${line}`),
  ]
}

/** Returns what to put back. A transaction that the operator accepted is counted, but explains nothing else. */
export function changeOf(
  { payments, payouts, returned, sent, names, treasury, erased, paidCashouts }: RestoreDecision,
  { since, hold }: Pick<RestoreOptions, 'since' | 'hold'>,
  identityProvider: string,
): PutBack {
  return {
    since: readFrom(since),
    payments: payments.rows,
    paid: payments.paid,
    payouts: payouts.rows,
    returns: returned.returns,
    dropped: returned.dropped,
    hold,
    erased,
    paidCashouts,
    asked: peopleIn(sent, names).map((wallet) => ({ wallet, provider: identityProvider })),
    transactions: sent.map(({ transaction, why }) => ({
      transaction,
      operations: why.flatMap(({ action, unexplained }) => {
        const operation = action.done && !unexplained && operationOf(action, names, treasury)
        return operation ? [operation] : []
      }),
    })),
  }
}

/** Returns wallets with an identity verdict since the backup and without a scheduled recheck. */
function peopleIn(sent: RestoreDecision['sent'], { asked, bus }: Names): string[] {
  const onChain = sent.flatMap(({ why }) =>
    why.flatMap(({ action }) => (action.does === 'verify' ? [action.wallet as string] : [])),
  )
  const wallets = new Set([...onChain, ...bus.verifies.map(({ wallet }) => wallet)])
  return [...wallets].filter((wallet) => !asked.has(wallet))
}
