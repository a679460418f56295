import type { Place } from '#infra/ops/place'
import { finalizedBlock, openNode } from '#infra/ops/record/chain-log'
import { type BusPlace, readBus } from './bus'
import { type Explained, explain, type Names, namesWith } from './explain'
import type { Known } from './known'
import { blockAt, type LaneTransaction, readLane } from './lane'
import { findPayments } from './lost-payments'
import { findPayouts } from './lost-payouts'
import { operationOf } from './operations'
import { openProvider, type ProviderPlace } from './provider'
import type { PutBack } from './put-back'
import type { Found, FoundPayments, LostPayout, World } from './world'

/** What a person asked for: the time of the backup, and what was found out elsewhere. */
export type Asked = {
  since: Date
  accept: readonly string[]
  checkouts: readonly string[]
  giveBack: readonly string[]
}
export type Places = { chain: Place; bus: BusPlace; provider: ProviderPlace }

/** What the rows do not know, why it happened, and what only a person can decide. */
export type Decision = {
  known: Known
  /** Chain-relayer is running: its lanes were not read, nor what was taken by them. */
  relayerRuns: boolean
  busLostUntil: Date | undefined
  payments: FoundPayments
  payouts: Found<LostPayout>
  sent: readonly { transaction: LaneTransaction; why: readonly Explained[]; open: boolean }[]
  unexplained: readonly LaneTransaction[]
  undecided: readonly string[]
  names: Names
  treasury: string
}

/** What was open when the backup was taken may have happened a little before; clocks differ, too. */
const marginMs = 600_000
export const readFrom = ({ since }: Pick<Asked, 'since'>) => new Date(since.getTime() - marginMs)

/** Why nothing is changed: what the lanes sent cannot be read while they may send more. */
export const mustStop =
  'chain-relayer runs, or ended a moment ago, and a lane is blocked: stop it first'

/** Reads the chain, the bus and the provider since the backup, and compares them with the rows. */
export async function decide(places: Places, known: Known, asked: Asked): Promise<Decision> {
  const from = readFrom(asked)
  const relayerRuns = known.lanes.some(({ isLeased }) => isLeased)
  const lanes = relayerRuns ? [] : await readLanes(places.chain, known, from)
  const bus = await readBus(places.bus, from)
  const provider = openProvider(places.provider)
  const listed = await provider.list(['payment', 'payout'], from)
  const treasury = places.chain.treasury.toLowerCase()
  const world: World = { ...asked, known, bus, provider, listed, lanes, treasury }
  const payments = await findPayments(world)
  const payouts = relayerRuns ? { rows: [], told: [], undecided: [] } : await findPayouts(world)
  const names = namesWith(known, bus, payments, payouts, lanes)
  const sent = lanes.map((transaction) => {
    const why = explain(transaction, names, treasury)
    const accepted = asked.accept.includes(transaction.hash)
    return { transaction, why, open: !accepted && why.some(({ unexplained }) => unexplained) }
  })
  const unexplained = sent.flatMap(({ transaction, open }) => (open ? [transaction] : []))
  return {
    ...{ known, relayerRuns, payments, payouts, sent, unexplained, names, treasury },
    busLostUntil: bus.since > asked.since ? bus.since : undefined,
    undecided: [
      ...payments.undecided,
      ...payouts.undecided,
      ...unexplained.map(
        ({ hash }) => `transaction ${hash}: find out why it was sent, then add --accept ${hash}`,
      ),
      ...(relayerRuns && known.lanes.some(({ fault }) => fault) ? [mustStop] : []),
    ],
  }
}

async function readLanes(place: Place, known: Known, since: Date): Promise<LaneTransaction[]> {
  const node = openNode(place.rpcUrl)
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

/** The decision, line by line, for a person. */
export function tell({
  known,
  busLostUntil,
  payments,
  payouts,
  sent,
  ...rest
}: Decision): string[] {
  const lanes = rest.relayerRuns ? [] : known.lanes
  return [
    ...(busLostUntil
      ? [`the bus has lost its store: it knows nothing before ${busLostUntil.toISOString()}`]
      : []),
    `rows to be put back: ${payments.rows.length} payments, ${payouts.rows.length} cash-outs`,
    ...[...payments.told, ...payouts.told].map((line) => `  ${line}`),
    ...lanes.flatMap(({ address, nextNonce }) => {
      const own = sent.filter(({ transaction }) => transaction.lane === address)
      return [
        `lane ${address}: next nonce ${nextNonce}, ${own.length} transactions that no row knows`,
        ...own.flatMap(({ transaction: { nonce, hash }, why, open }) => [
          `  ${open ? '?' : ' '} ${nonce}  ${hash}`,
          ...why.map(({ told }) => `       ${told}`),
        ]),
      ]
    }),
    ...rest.undecided.map((line) => `to decide: ${line}`),
  ]
}

/** What is written down. What was accepted without a reason is counted, and explains nothing. */
export function changeOf(
  { payments, payouts, sent, names, treasury }: Decision,
  since: Date,
  identityProvider: string,
): PutBack {
  return {
    ...{
      since: readFrom({ since }),
      payments: payments.rows,
      paid: payments.paid,
      payouts: payouts.rows,
    },
    asked: peopleIn(sent, names).map((wallet) => ({ wallet, provider: identityProvider })),
    transactions: sent.map(({ transaction, why }) => ({
      transaction,
      operations: why.flatMap(({ deed, unexplained }) => {
        const operation = deed.done && !unexplained && operationOf(deed, names, treasury)
        return operation ? [operation] : []
      }),
    })),
  }
}

/** Whoever was verified or refused since, and about whom nobody would ask the identity provider. */
function peopleIn(sent: Decision['sent'], { asked, bus }: Names): string[] {
  const onChain = sent.flatMap(({ why }) =>
    why.flatMap(({ deed }) => (deed.does === 'verify' ? [deed.wallet as string] : [])),
  )
  const wallets = new Set([...onChain, ...bus.verifies.map(({ wallet }) => wallet)])
  return [...wallets].filter((wallet) => !asked.has(wallet))
}
