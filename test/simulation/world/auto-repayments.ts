import type { Hex } from 'viem'
import type { Operation } from '../../../services/chain-relayer/operations/operation.table'
import { journal } from '../../../services/chain-relayer/schema.store'
import { lookMin } from '../../../services/gateway/reminders/auto-repay'
import { type AutoRepayment, causeOf } from '../../../services/gateway/reminders/auto-repay.store'
import { parseRefId } from '../../../services/payments/payment'
import { baseFeeWei } from '../chain/chain'
import type { AutoRepaid } from '../chain/contract'
import { defaultsAtOf, dueAtOf, type Line, type Now } from '../chain/line'
import { bookedOf } from '../rows/journal'
import { triesIn } from '../rows/reminders'
import type { Surroundings } from './services'

type Order = Extract<Operation, { kind: 'autorepay' }>

/**
 * Checks that each order of an automatic repayment ended as the chain shows, took place at most once, took no debt that was
 * not due to it, and that the gateway knows its outcome.
 */
export function auditAutoRepayments(around: Surroundings): string[] {
  const { world, chain } = around
  const { rows } = world
  const tries = triesIn(rows)
  const orders = rows.operations.where(({ kind }) => kind === 'autorepay') as Order[]
  const done = Map.groupBy(chain.contract.autoRepaid.all, ({ txHash }) => orderOf(around, txHash))
  const found = orders.flatMap((order) =>
    auditOrder(around, order, { tried: tries.get(order.cause), done: done.get(order.id) ?? [] }),
  )
  const known = new Set(orders.map(({ cause }) => cause))
  for (const one of tries.values())
    if (!known.has(causeOf(one))) found.push(`the automatic repayment ${causeOf(one)} never reached the relayer`)
  return [...found, ...auditDebts(around)]
}

/** Returns the id of the order whose transaction this is; undefined if another called the contract. */
function orderOf({ world: { rows } }: Surroundings, txHash: Hex): string | undefined {
  const attempt = rows.attempts.get(txHash)
  return attempt && rows.transactions.get(`${attempt.lane} ${attempt.nonce}`)?.operationIds[0]
}

type Ended = { readonly tried: AutoRepayment | undefined; readonly done: readonly AutoRepaid[] }

function auditOrder(around: Surroundings, order: Order, { tried, done }: Ended): string[] {
  const found: string[] = []
  const { id, state, reason, txHash } = order
  const say = (what: string) => void found.push(`automatic repayment ${id} (${state}): ${what}`)
  const [taken] = done
  if (done.length > 1) say(`was executed ${done.length} times`)
  if ((state === 'settled') !== (taken !== undefined)) say(`took ${taken?.amount ?? 'nothing'}`)
  if (taken && taken.amount > taken.drawn) say(`took ${taken.amount} of a debt of ${taken.drawn}`)
  if (taken && taken.txHash !== txHash) say(`took place in ${taken.txHash}, not ${txHash}`)
  for (const one of done) found.push(...auditTaken(around, order, one))
  if (!tried) say('was not ordered by the gateway')
  else if (tried.outcome === 'repaid') {
    const source = taken?.fromCollateral ? 'collateral' : 'wallet'
    const isKnown = tried.ausdMicro !== null
    if (isKnown && (tried.ausdMicro !== taken?.amount || tried.source !== source))
      say(`took ${taken?.amount} from the ${source}, and the gateway has ${tried.ausdMicro} from the ${tried.source}`)
    if (tried.txHash !== taken?.txHash) say(`is listed with ${tried.txHash}, not ${taken?.txHash}`)
  } else if (taken) say(`took ${taken.amount}, and the gateway has ${tried.outcome}`)
  else if ((tried.outcome === 'needless') !== (reason === 'nothing_due'))
    say(`failed by ${reason}, and the gateway has ${tried.outcome}`)
  return found
}

/** Time in ms from the examination of an order to its signature, in which the chain may have gone on. */
const examinedMs = 30_000

/** Checks that an automatic repayment took no debt that a payment was on its way to, and none of a later cycle. */
function auditTaken({ world: { rows }, chain }: Surroundings, order: Order, taken: AutoRepaid): string[] {
  const found: string[] = []
  const { lane, nonce } = rows.attempts.get(taken.txHash)!
  const signedAt = rows.transactions.get(`${lane} ${nonce}`)!.createdAt
  for (const { kind, id, createdAt, updatedAt } of rows.operations.by('wallet', order.wallet))
    if (kind === 'repay' && createdAt <= signedAt && updatedAt > signedAt)
      found.push(`automatic repayment ${order.id} took the debt while payment ${id} of it was on its way`)
  const { cycle } = order.payload
  const opened = chain.contract.lines.about(order.wallet).find((one) => one.cycle === taken.cycle && one.openedAt > 0n)
  const openedMs = opened ? Number(chain.at(opened.block).timestamp) * 1_000 : 0
  if (taken.cycle !== cycle && openedMs < signedAt.getTime() - examinedMs)
    found.push(`automatic repayment ${order.id} of cycle ${cycle} took a debt of cycle ${taken.cycle}`)
  return found
}

/** Longest time in seconds between two looks of the gateway at a debt, if calls fail. */
const lookSeconds = 8n

/** Returns when a debt was due and when it defaulted, in unix seconds. A pause after the default moved neither. */
function endsOf({ chain: { contract, blocks, latest } }: Surroundings, line: Line) {
  const isOver = (now: Now) => now.pauses.since === 0n && now.time > defaultsAtOf(line, now)
  const last = blocks.find(({ number, timestamp }) => isOver(contract.nowAt(number, timestamp))) ?? latest
  const now = contract.nowAt(last.number, last.timestamp)
  return { dueAt: dueAtOf(line, now.pauses), defaultsAt: defaultsAtOf(line, now) }
}

/** Returns the time that is so many seconds before another, without those in which the contract was paused. */
function unpausedBefore({ chain }: Surroundings, time: bigint, seconds: bigint): bigint {
  let [at, left] = [time, seconds]
  const ended = chain.contract.pauses.all.filter(({ since }) => since === 0n)
  for (const { lastSince, lastSeconds } of ended.toReversed()) {
    if (lastSince >= at) continue
    const since = at - lastSince - lastSeconds
    if (since >= left) break
    if (since > 0n) left -= since
    at = lastSince
  }
  return at - left
}

/** Returns when a borrower gave the permission that is in force, in unix seconds. */
function permittedAt({ chain }: Surroundings, wallet: Hex): bigint {
  const lines = chain.contract.lines.about(wallet)
  const first = lines[lines.findLastIndex(({ max }) => max === 0n) + 1]!
  return chain.at(first.block).timestamp
}

/** Checks that nobody owes a debt that was allowed to be repaid automatically, and could be, since its last try. */
function auditDebts(around: Surroundings): string[] {
  const { rows } = around.world
  const { chain } = around
  const { contract, latest } = chain
  return contract.lines.subjects.flatMap((wallet) => {
    const line = contract.lineAt(wallet as Hex, latest.number)
    const { block, max, cycle } = line
    const order = { kind: 'autorepay', wallet: line.wallet } as const
    if (max === 0n || contract.refusalOf(order, latest.number, latest.timestamp)) return []
    const { dueAt, defaultsAt } = endsOf(around, line)
    const lastTryAt = unpausedBefore(around, dueAt, lookSeconds)
    const isUnchanged =
      chain.at(block).timestamp < lastTryAt && contract.used.about(wallet).every((use) => use.time < lastTryAt)
    // A look that found no permission is followed by another one after this time.
    const lastPermittedAt = unpausedBefore(around, defaultsAt, lookSeconds + BigInt(lookMin))
    if (!isUnchanged || permittedAt(around, line.wallet) > lastPermittedAt) return []
    const lastLookMs = Number(unpausedBefore(around, defaultsAt, lookSeconds)) * 1_000
    // The gateway orders no try after the default, nor while a payment of the debt is on its way, as far as payments knows.
    const isExcused = rows.operations.by('wallet', wallet).some(({ kind, cause, reason, createdAt, updatedAt }) => {
      if (kind === 'autorepay') return reason === 'reverted'
      const endedAt = rows.payments.get(parseRefId(cause)?.id ?? '')?.creditedAt ?? updatedAt
      return kind === 'repay' && createdAt.getTime() <= lastLookMs && endedAt.getTime() > lastLookMs
    })
    return isExcused ? [] : [`${wallet} owes ${line.drawn} of cycle ${cycle}, which it let be repaid automatically`]
  })
}

/** Checks that the books have the gas of each transaction of the lanes, and the coin that it sent. */
export function auditLanes({ world: { rows }, chain }: Surroundings): string[] {
  return chain.blocks.flatMap(({ mined }) =>
    mined.flatMap(({ signed: { lane, nonce, gas, ops }, isReverted }) => {
      const sentWei = ops.reduce((sum, op) => sum + (op.kind === 'native' && !isReverted ? op.wei : 0n), 0n)
      const paidWei = gas * baseFeeWei
      const item = `${lane}:${nonce}`
      const booked = bookedOf(rows, journal, item)
      const of = (account: string) => booked.find((line) => line.account === account)?.amount ?? 0n
      const isRight = of('gas') === paidWei && of('drips') === sentWei && of('lanes') === -paidWei - sentWei
      return isRight ? [] : [`the books of transaction ${item} have ${of('gas')} of gas, not ${paidWei}`]
    }),
  )
}
