import type { Hex } from 'viem'
import type { Operation } from '../../../services/chain-relayer/operations/operation.table'
import type { CallRefusal, Op } from '../chain/calls'
import type { Block } from '../chain/chain'
import { refOf } from './refs'
import type { Surroundings } from './services'

/**
 * Checks that each order about a payment that failed could not take effect: the contract refuses it for good, or its
 * transactions reverted, and not only because the credit line was paused for a while.
 */
export function auditOrders(around: Surroundings): string[] {
  const { rows } = around.world
  const failed = rows.operations.by('state', 'failed')
  const reverts = failed.length > 0 ? revertsOf(around) : new Map<string, CallRefusal[]>()
  return failed.flatMap((order) => {
    const op = opOf(order)
    const why = op && whyWrong(around, order, { op, reverts: reverts.get(order.id) ?? [] })
    return why ? [`${order.kind} ${order.id} failed by ${order.reason}, ${why}`] : []
  })
}

type Tried = { readonly op: Op; readonly reverts: readonly CallRefusal[] }

function whyWrong(
  { chain }: Surroundings,
  { reason, updatedAt }: Operation,
  { op, reverts }: Tried,
): string | undefined {
  const { contract, latest } = chain
  const isPaused = reverts.length > 0 && reverts.every((one) => one === 'EnforcedPause')
  if (reason === 'reverted') return isPaused ? 'by pauses alone' : undefined
  // A hold ends, so a revocation is judged by the state in which it failed.
  const then = op.kind === 'credit' || op.kind === 'repay' ? latest : blockAt(chain.blocks, updatedAt.getTime())
  return contract.refusalOf(op, then.number, then.timestamp) ? undefined : 'and the contract accepts it'
}

const blockAt = (blocks: readonly Block[], ms: number): Block =>
  blocks.findLast(({ timestamp }) => Number(timestamp) * 1_000 <= ms) ?? blocks[0]!

/** Returns the reverts of each order in blocks, by its id. */
function revertsOf({ chain, world: { rows } }: Surroundings): Map<string, CallRefusal[]> {
  const found = new Map<string, CallRefusal[]>()
  for (const { mined } of chain.blocks)
    for (const { signed, failed, isReverted } of mined) {
      const { operationIds = [] } = rows.transactions.get(`${signed.lane} ${signed.nonce}`) ?? {}
      for (const [position, id] of operationIds.entries()) {
        const refusal = failed.get(position) ?? (isReverted ? 'out of gas' : undefined)
        if (refusal) found.set(id, [...(found.get(id) ?? []), refusal])
      }
    }
  return found
}

/** Returns the call of an order about a payment, or undefined for other orders. */
function opOf({ kind, payload }: Operation): Op | undefined {
  if (kind === 'revoke')
    return {
      kind,
      of: payload.of === 'topup' ? 'credit' : 'repay',
      ref: refOf(payload.refId),
      left: BigInt(payload.left ?? 0),
    }
  if (kind !== 'credit' && kind !== 'repay') return undefined
  return {
    kind,
    ref: refOf(payload.refId),
    wallet: payload.wallet as Hex,
    amount: BigInt(payload.ausd),
    held: payload.held,
    paidAt: 'paidAt' in payload ? BigInt(payload.paidAt) : 0n,
  }
}
