import {
  encodeFunctionData,
  getAbiItem,
  type Hex,
  type Log,
  multicall3Abi,
  parseEventLogs,
  prepareEncodeFunctionData,
} from 'viem'
import { toUnixSeconds } from '#platform/clock'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { encoderOf } from '#shared/chain/encoder'
import type { AuthorizationTerms } from '#shared/chain/erc3009'
import { bundleGasLimit, gasLimits, leastBaseFeeWei, manyGasLimit, type OpKind, opKinds } from '#shared/chain/gas'
import { type GivenAuthorization, withTokenV } from '#shared/chain/given-authorization'
import { refOf } from '#shared/chain/ref'
import type { Repaid } from '#shared/messages/relay'
import { movesIn, needsContract, placeOfMove, same } from '../chain/authorization'
import type { Context } from '../context'
import type { CallToSign, Fees } from '../keys/keys'
import { type FinalTake, returnNonce } from '../keys/policy'
import type { TransactionPurpose } from '../lanes/lane.store'
import { type BatchableTask, isBatchable, type OperationKind, type Task } from '../operations/operation'
import type { Operation } from '../operations/operation.table'
import { findTake } from '../operations/wallet.store'
import { givebackNonce } from '../unsolicited-deposits/arrival'

export async function transactionCall(context: Context, operation: Operation, foreign: boolean): Promise<CallToSign> {
  const { contracts, settings } = context
  const call = await plainCall()
  return { ...call, gas: raisedGas(call.gas, operation.tries) }

  async function plainCall(): Promise<CallToSign> {
    switch (operation.kind) {
      case 'take':
      case 'send': {
        const { authorization } = operation.payload
        const signed = foreign ? authorization : signedByKey(authorization)
        return transferCall(signed, contracts.ausd, transferGas(foreign))
      }
      case 'return':
      case 'giveback':
        return returnCall(context, operation)
      case 'drip':
        return {
          to: operation.wallet,
          data: '0x',
          valueWei: settings.dripWei,
          gas: gasLimits.nativeTransfer,
        }
      default:
        return lineCall(operation, contracts.creditLine)
    }
  }
}

const signedByKey = (authorization: GivenAuthorization): GivenAuthorization => ({
  ...authorization,
  signature: withTokenV(authorization.signature as Hex),
})

const transferGas = (byContract: boolean) =>
  byContract ? gasLimits.transferWithAuthorizationFromContract : gasLimits.transferWithAuthorization

/** Returns true if user-controlled code decides whether the transaction reverts. */
export const runsForeignCode = async (
  { contracts }: Pick<Context, 'contracts'>,
  operation: Operation,
): Promise<boolean> => isSigned(operation) && (await needsContract(contracts, operation.payload.authorization))

async function returnCall(context: Context, operation: Extract<Operation, { kind: Owed }>): Promise<CallToSign> {
  const terms = transferTerms(context, operation)!
  const { domain, ausd } = context.contracts
  const take = operation.kind === 'return' ? await finalTakeOf(context, operation) : undefined
  // Anyone who sees this signature can use it, so it counts against the limits once it is signed.
  const signature = await context.database.transaction((tx) => context.treasury.sign(tx, { domain, terms, take }))
  return transferCall({ ...terms, signature }, ausd, gasLimits.transferWithAuthorization)
}

type Owed = 'return' | 'giveback'

/** Validity of a return in seconds; afterwards it is signed again with the same nonce. */
const returnValidSeconds = 24 * 60 * 60

/**
 * Returns the final take of a return. By the keys of their rows, an authorization belongs to one take and a take to one
 * return.
 */
async function finalTakeOf(
  context: Context,
  { payload: { payoutId } }: Extract<Operation, { kind: 'return' }>,
): Promise<FinalTake | undefined> {
  const take = await context.database.read((db) => findTake(db, payoutId))
  if (take?.state !== 'settled' || !take.txHash) return undefined
  const { authorization } = take.payload
  const head = await context.node.finalizedHead()
  const place = await placeOfMove(context, authorization, take.txHash)
  if (!place || place === 'unknown' || place.blockNumber > head.number) return undefined
  const { timestamp } = await context.node.headAt(place.blockNumber)
  return { payoutId, moved: authorization, ageSeconds: head.timestamp - timestamp }
}

/** Returns the time in Unix seconds. It is the chain's time if that is ahead, because the token judges by it. */
const nowOf = ({ clock, memory }: Context): number =>
  Math.max(toUnixSeconds(clock()), Number(memory.snapshot?.newest.timestamp ?? 0))

export function transferTerms(context: Context, operation: Operation): AuthorizationTerms | undefined {
  if (isSigned(operation)) return operation.payload.authorization
  if (operation.kind !== 'return' && operation.kind !== 'giveback') return undefined
  const { wallet, ausd } = operation.payload
  const { kind, cause } = operation
  return {
    from: context.treasury.address.toLowerCase(),
    to: wallet,
    value: ausd,
    validAfter: '0',
    validBefore: String(nowOf(context) + returnValidSeconds),
    nonce: kind === 'return' ? returnNonce(cause) : givebackNonce(cause),
  }
}

const transferCall = (signed: GivenAuthorization, ausd: Hex, gas: bigint): CallToSign => ({
  to: ausd,
  data: transferData(signed),
  valueWei: 0n,
  gas,
})

/** The transfer function that also accepts contract signatures. viem would search for the overload on every call. */
const transfer = ausdAbi.find(
  (item): item is BytesTransfer =>
    item.type === 'function' && item.name === 'transferWithAuthorization' && item.inputs.length === 7,
)!
type BytesTransfer = Extract<(typeof ausdAbi)[number], { name: 'transferWithAuthorization'; inputs: { length: 7 } }>
const prepared = prepareEncodeFunctionData({ abi: [transfer] })

const transferData = (signed: GivenAuthorization): Hex => {
  const { from, to, value, validAfter, validBefore, nonce, signature } = signed
  return encodeFunctionData({
    ...prepared,
    args: [
      from as Hex,
      to as Hex,
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      nonce as Hex,
      signature as Hex,
    ],
  })
}

export type SignedOperation = Operation & { kind: 'take' | 'send' }
export const isSigned = (operation: Operation): operation is SignedOperation =>
  operation.kind === 'take' || operation.kind === 'send'

export const bundled = (ausd: Hex, { payload }: SignedOperation) => ({
  target: ausd,
  allowFailure: true,
  callData: transferData(signedByKey(payload.authorization)),
})

/**
 * Encodes a bundle, which is only for plain accounts: a contract signer's code would run with the gas of the whole
 * bundle.
 */
export function bundleCall(operations: readonly SignedOperation[], ausd: Hex): CallToSign {
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [operations.map((operation) => bundled(ausd, operation))],
  })
  return { to: multicall3, data, valueWei: 0n, gas: bundleGasLimit(operations.length) }
}

type CreditLineTask = Extract<Task, { kind: BatchableTask['kind'] | 'verify' | 'freeze' | 'autorepay' }>

export const lineCall = (task: CreditLineTask, creditLine: Hex): CallToSign => ({
  to: creditLine,
  data: lineData(task),
  valueWei: 0n,
  gas: lineGasLimit(task),
})

export const lineGasLimit = (task: CreditLineTask): bigint => gasLimits[lineGas(task)]

const lineGas = (task: CreditLineTask): keyof typeof gasLimits => {
  if (task.kind === 'verify') return 'setVerified'
  if (task.kind === 'autorepay') return 'autoRepay'
  return task.kind === 'freeze' ? 'setFrozen' : opKindOf(task)
}

const encodeLine = encoderOf(creditLineAbi)

function lineData(task: CreditLineTask): Hex {
  if (task.kind === 'verify') {
    const args = [task.payload.wallet as Hex, task.payload.verified] as const
    return encodeLine('setVerified', args)
  }
  if (task.kind === 'freeze') {
    const args = [task.payload.wallet as Hex, task.payload.frozen] as const
    return encodeLine('setFrozen', args)
  }
  if (task.kind === 'autorepay') return encodeLine('autoRepay', [task.payload.wallet as Hex])
  const { ref, account, amount, paidAt } = opOf(task)
  switch (task.kind) {
    case 'credit': {
      const args = [ref, account, amount, task.payload.held] as const
      return encodeLine('topUp', args)
    }
    case 'repay': {
      const args = [ref, account, amount, task.payload.held, paidAt] as const
      return encodeLine('repayFor', args)
    }
    case 'revoke': {
      const functionName = task.payload.of === 'topup' ? 'revokeTopUp' : 'revokeRepayment'
      return encodeLine(functionName, [ref, amount])
    }
    case 'extend':
      return encodeLine('extendHold', [ref])
  }
}

/** Divides operations into batches of at most `batchMax` that `isPaid` accepts, and those that are sent alone. */
export function batched<O extends { readonly kind: OperationKind; readonly tries: number }>(
  operations: readonly O[],
  batchMax: number,
  isPaid: (group: readonly O[]) => boolean = () => true,
): { together: O[][]; alone: O[] } {
  const fits = (one: O) => batchMax > 1 && isBatchable(one.kind) && one.tries === 0
  const groups: O[][] = []
  for (const one of operations.filter(fits)) {
    const group = groups.at(-1)
    if (group && group.length < batchMax && isPaid([...group, one])) group.push(one)
    else groups.push([one])
  }
  const isShared = (group: readonly O[]) => group.length > 1
  const alone = [...operations.filter((one) => !fits(one)), ...groups.filter((group) => !isShared(group)).flat()]
  return { together: groups.filter(isShared), alone }
}

export const manyGas = (tasks: readonly BatchableTask[]): bigint => manyGasLimit(tasks.map(opKindOf))

export function manyCall(tasks: readonly BatchableTask[], creditLine: Hex): CallToSign {
  const data = encodeLine('many', [tasks.map(opOf)])
  return { to: creditLine, data, valueWei: 0n, gas: manyGas(tasks) }
}

/**
 * Returns which operations the logs prove as done. Throws if the receipt lacks the logs of an operation, because an
 * endpoint may omit them. The logs of a batch are those of the contract that it called, which need not be the configured
 * credit line any more.
 */
export function doneIn(
  { contracts }: Pick<Context, 'contracts'>,
  { to, purpose }: { readonly to: Hex; readonly purpose: TransactionPurpose },
  logs: readonly Log[],
): (operation: Operation, position: number) => boolean {
  if (same(to, multicall3)) {
    const hasMoved = movesIn(logs, contracts.ausd)
    return (operation) => isSigned(operation) && hasMoved(operation.payload.authorization)
  }
  if (purpose !== 'batch') return () => true
  const own = logs.filter((log) => same(log.address, to))
  const named = new Set<string>(own.flatMap(({ topics }) => topics))
  const failures = failuresOf(own)
  return (operation, position) => {
    if (!named.has(opOf(operation as BatchableTask).ref)) throw new Error('the receipt has no event of an operation')
    return !failures.has(position)
  }
}

/** `parseEventLogs` hashes the whole ABI that it gets, once per call. */
const opFailed = [getAbiItem({ abi: creditLineAbi, name: 'OpFailed' })] as const

/** Returns the failed operations of `many` by index. All others took effect, now or earlier (`AlreadyApplied`). */
function failuresOf(logs: readonly Log[]): Map<number, Hex> {
  const failed = parseEventLogs({ abi: opFailed, logs: [...logs] })
  return new Map(failed.map(({ args }) => [Number(args.index), args.reason]))
}

const autoRepaid = [getAbiItem({ abi: creditLineAbi, name: 'AutoRepaid' })] as const

/**
 * Returns what a settled automatic repayment took; undefined for other operations. Throws if the receipt lacks its event,
 * because an endpoint may omit logs.
 */
export function repaidIn(
  { to }: { readonly to: Hex },
  operation: Pick<Operation, 'kind' | 'wallet'>,
  logs: readonly Log[],
): Repaid | undefined {
  if (operation.kind !== 'autorepay') return undefined
  const own = logs.filter((log) => same(log.address, to))
  const event = parseEventLogs({ abi: autoRepaid, logs: own }).find(({ args }) => same(args.account, operation.wallet))
  if (!event) throw new Error('the receipt has no event of an operation')
  const { amount, fromCollateral } = event.args
  return { ausd: String(amount), source: fromCollateral ? 'collateral' : 'wallet' }
}

function opKindOf(task: BatchableTask): OpKind {
  switch (task.kind) {
    case 'credit':
      return task.payload.held ? 'heldTopUp' : 'topUp'
    case 'repay':
      return task.payload.held ? 'heldRepayFor' : 'repayFor'
    case 'revoke':
      return task.payload.of === 'topup' ? 'revokeTopUp' : 'revokeRepayment'
    case 'extend':
      return 'extendHold'
  }
}

/** Encodes an operation; fields that its kind does not use are 0. */
function opOf(task: BatchableTask) {
  const { refId, wallet } = task.payload
  return {
    kind: opKinds[opKindOf(task)],
    ref: refOf(refId),
    account: wallet as Hex,
    amount: BigInt(amountOf(task)),
    paidAt: 'paidAt' in task.payload ? asTime(task.payload.paidAt) : 0n,
  }
}

/** Returns the amount in 10⁻⁶ AUSD; for a revocation, the amount that it leaves. */
function amountOf(task: BatchableTask): string {
  if (task.kind === 'extend') return '0'
  return task.kind === 'revoke' ? (task.payload.left ?? '0') : task.payload.ausd
}

/** Limits a time to 64 bits, which always encode; the contract clamps the time further. */
const asTime = (seconds: string): bigint => (BigInt(seconds) > timeMax ? timeMax : BigInt(seconds))
const timeMax = 2n ** 64n - 1n

/** Returns a call that only uses the nonce: it sends zero value from the lane to itself. */
export const noopCall = (lane: `0x${string}`): CallToSign => ({
  to: lane,
  data: '0x',
  valueWei: 0n,
  gas: gasLimits.nativeTransfer,
})

/**
 * Fees leave headroom, which costs nothing: the charge and the reserve budget of Monad use min(maxFee, base +
 * priority).
 */
const gwei = 1_000_000_000n
const floorWei = 2n * leastBaseFeeWei
const headroom = 4n
const priorityWei = 2n * gwei
/** Maximum fee as a multiple of the base fee; a bump at the maximum adds only 1 wei. */
const capOver = 40n
const bumpPercent = 25n

export const feesFor = (baseFeeWei: bigint): Fees => ({
  maxFeeWei: atLeast(baseFeeWei * headroom, floorWei),
  priorityWei,
})

/** Raises both fees by 25 % (nodes other than Monad require at least 10 %), without a maximum. */
export function outbid(last: Fees, baseFeeWei: bigint): Fees {
  const fresh = feesFor(baseFeeWei)
  const raised = (lastWei: bigint, freshWei: bigint) => atLeast((lastWei * (100n + bumpPercent) + 99n) / 100n, freshWei)
  const maxFeeWei = raised(last.maxFeeWei, fresh.maxFeeWei)
  return { maxFeeWei, priorityWei: atMost(raised(last.priorityWei, fresh.priorityWei), maxFeeWei) }
}

export function bumped(last: Fees, baseFeeWei: bigint): Fees {
  const capWei = atLeast(baseFeeWei * capOver, floorWei * 4n)
  const capped = (wei: bigint, lastWei: bigint) => atLeast(atMost(wei, capWei), lastWei + 1n)
  const next = outbid(last, baseFeeWei)
  const maxFeeWei = capped(next.maxFeeWei, last.maxFeeWei)
  return { maxFeeWei, priorityWei: atMost(capped(next.priorityWei, last.priorityWei), maxFeeWei) }
}

/** Returns true if a bump raises a fee by a tenth. Attempts that differ by 1 wei would pile up and change nothing. */
export const isRaise = (last: Fees, next: Fees): boolean =>
  next.maxFeeWei * 10n >= last.maxFeeWei * 11n || next.priorityWei * 10n >= last.priorityWei * 11n

export const atLeast = (left: bigint, right: bigint) => (left > right ? left : right)
export const atMost = (left: bigint, right: bigint) => (right < left ? right : left)

export const raisedGas = (gas: bigint, tries: number): bigint => {
  const raisedBy = gas + (gas * BigInt(Math.min(tries, 6))) / 2n
  return atMost(raisedBy, gasMax)
}
/** Monad's gas limit per transaction. */
export const gasMax = 30_000_000n
