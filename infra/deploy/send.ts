import {
  type Address,
  BaseError,
  type Hex,
  keccak256,
  parseTransaction,
  type TransactionSerializableEIP1559,
  type TransactionSerializedEIP1559,
} from 'viem'
import { pause } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import type { Pending } from './addresses'
import { type DeployNode, textOf } from './node'
import { maxFeeOver } from './observe'
import type { DeployCall } from './step'
import type { Signers } from './wanted'

const priorityWei = 2_000_000_000n
/** Monad's gas limit for one transaction. */
const gasMax = 30_000_000n
/** Intervals of sending, in ms. Monad nodes stop forwarding a transaction after about 5 s. */
export type SendTimes = {
  readonly pollMs: number
  readonly resendAfterMs: number
  readonly bumpAfterMs: number
}
const usualPace: SendTimes = { pollMs: 250, resendAfterMs: 3_000, bumpAfterMs: 12_000 }

/** Signs a transaction. A call that would revert fails at the estimate, at no cost. */
export async function prepare(
  node: DeployNode,
  signers: Signers,
  { step, call, nonceLeast }: { step: string; call: DeployCall; nonceLeast: number },
): Promise<Pending> {
  const { from, to, data } = call
  const [count, estimate, block] = await Promise.all([
    node.reader.getTransactionCount({ address: from, blockTag: 'latest' }),
    node.reader.estimateGas({ account: from, data, ...(to && { to }) }),
    node.reader.getBlock(),
  ])
  const gas = estimate + estimate / 5n
  // A lagging endpoint may not have seen our previous step yet.
  const nonce = Math.max(count, nonceLeast)
  const raw = await sign(signers, from, {
    type: 'eip1559',
    chainId: node.chain.chainId,
    nonce,
    data,
    ...(to && { to }),
    gas: gas < gasMax ? gas : gasMax,
    maxFeePerGas: maxFeeOver(block.baseFeePerGas ?? 0n),
    maxPriorityFeePerGas: priorityWei,
  })
  return { step, from, nonce, attempts: [raw] }
}

const sign = (signers: Signers, from: Address, fields: TransactionSerializableEIP1559) => {
  const signer = signers.get(from)
  if (!signer) throw new Error(`${from} has a pending transaction, but its key is missing: provide the key`)
  return signer.signTransaction(fields)
}

/**
 * Outcome of a transaction at finality. `superseded`: another transaction with the same nonce is final, so this one can
 * never be mined.
 */
export type FinalOutcome =
  | { readonly final: 'done' | 'reverted'; readonly hash: Hex; readonly blockNumber: bigint }
  | { readonly final: 'superseded' }

type Options = {
  readonly withinMs: number
  readonly keep: (pending: Pending) => void
  readonly pace?: SendTimes
}

/**
 * Sends until one attempt is final: first the same bytes, later a higher fee, which `keep` stores first. Throws when no
 * attempt is final in time; the outcome is then unknown.
 */
export async function untilFinal(
  node: DeployNode,
  signers: Signers,
  start: Pending,
  { withinMs, keep, pace = usualPace }: Options,
): Promise<FinalOutcome> {
  const beganAt = performance.now()
  let pending = start
  let [sentAt, bumpedAt, absences] = [Number.NEGATIVE_INFINITY, beganAt, 0]
  let word: string | null = null
  while (performance.now() - beganAt < withinMs) {
    if (performance.now() - bumpedAt > pace.bumpAfterMs) {
      pending = await bumped(node, signers, pending)
      keep(pending)
      ;[bumpedAt, sentAt] = [performance.now(), Number.NEGATIVE_INFINITY]
    }
    if (performance.now() - sentAt > pace.resendAfterMs) {
      word = await node.sendRaw(pending.attempts.at(-1)!)
      sentAt = performance.now()
      failpoint(`deploy:sent:${pending.step}`)
    }
    const outcome = await outcomeNow(node, pending).catch((error: unknown) => {
      word = textOf(error)
      return null
    })
    if (outcome && outcome.final !== 'superseded') return outcome
    // One missing receipt proves nothing, because the node may index slowly.
    absences = outcome ? absences + 1 : 0
    if (outcome && absences > 12) return outcome
    await pause(pace.pollMs)
  }
  throw new Error(
    `${start.step} was not final within ${withinMs} ms, its outcome is unknown` +
      `${word === null ? '' : ` (last error: ${word})`}; it is recorded: run again`,
  )
}

async function bumped(node: DeployNode, signers: Signers, pending: Pending): Promise<Pending> {
  const last = parseTransaction(pending.attempts.at(-1) as TransactionSerializedEIP1559)
  const { type, chainId, nonce, data, to, gas, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = last
  const block = await node.reader.getBlock()
  const fresh = maxFeeOver(block.baseFeePerGas ?? 0n)
  const raised = maxFeePerGas + maxFeePerGas / 4n + 1n
  const raw = await sign(signers, pending.from, {
    type,
    chainId,
    nonce,
    data,
    gas,
    ...(to && { to }),
    maxFeePerGas: raised > fresh ? raised : fresh,
    maxPriorityFeePerGas: maxPriorityFeePerGas + maxPriorityFeePerGas / 4n + 1n,
  } as TransactionSerializableEIP1559)
  return { ...pending, attempts: [...pending.attempts, raw] }
}

/** Returns the outcome if it is final: the receipt's block is at or below `finalized` with the same hash. */
async function outcomeNow({ reader }: DeployNode, { from, nonce, attempts }: Pending): Promise<FinalOutcome | null> {
  const [finalized, count] = await Promise.all([
    reader.getBlock({ blockTag: 'finalized' }),
    reader.getTransactionCount({ address: from, blockTag: 'finalized' }),
  ])
  let seen = false
  for (const raw of attempts) {
    const hash = keccak256(raw)
    const receipt = await reader.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof BaseError && error.name === 'TransactionReceiptNotFoundError') return null
      throw error
    })
    if (!receipt) continue
    seen = true
    const { blockNumber, blockHash, status } = receipt
    if (blockNumber > finalized.number) continue
    const block = await reader.getBlock({ blockNumber })
    if (block.hash === blockHash) return { final: status === 'success' ? 'done' : 'reverted', hash, blockNumber }
  }
  return !seen && count > nonce ? { final: 'superseded' } : null
}
