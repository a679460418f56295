import { type Address, decodeFunctionData, type Hex, isAddressEqual, multicall3Abi, parseEventLogs } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { opKinds } from '#shared/chain/gas'
import { canonical } from '#shared/chain/given-authorization'

/** Action decoded from a lane's calldata. Amounts are in 10⁻⁶ AUSD. */
export type LaneAction =
  | {
      does: 'credit' | 'repay'
      ref: Hex
      wallet: Address
      ausdMicro: bigint
      held: boolean
      /** Unix seconds of a repayment; otherwise 0. */
      paidAt: bigint
    }
  /** `leftMicro` is the amount of the payment that the revocation leaves. */
  | { does: 'revoke'; ref: Hex; of: 'topup' | 'settlement'; leftMicro: bigint }
  | { does: 'extend'; ref: Hex }
  | { does: 'verify' | 'freeze'; wallet: Address; is: boolean }
  | { does: 'autorepay'; wallet: Address }
  | { does: 'move'; authorization: SignedTransfer }
  | { does: 'pay'; wallet: Address }
  | { does: 'nothing' }

export type SentTransaction = { from: Address; to: Address; data: Hex; valueWei: bigint }
type Contracts = { ausd: Address; creditLine: Address }

/** Decodes a transaction. Returns undefined if our relayer does not send such transactions. */
export function actionsOf(words: SentTransaction, contracts: Contracts): LaneAction[] | undefined {
  const { from, to, data, valueWei } = words
  if (data === '0x' && valueWei === 0n && isAddressEqual(from, to)) return [{ does: 'nothing' }]
  if (data === '0x') return [{ does: 'pay', wallet: lower(to) }]
  if (valueWei > 0n) return undefined
  try {
    if (isAddressEqual(to, contracts.creditLine)) return lineActions(data)
    if (isAddressEqual(to, contracts.ausd)) return transferActions(data)
    if (isAddressEqual(to, multicall3)) return bundleActions(data, contracts)
  } catch {
    // The calldata belongs to another contract, or it is invalid.
  }
  return undefined
}

const lower = (address: string) => address.toLowerCase() as Address

type Op = { kind: number; ref: Hex; account: Address; amount: bigint; paidAt: bigint }
const { topUp, heldTopUp, repayFor, heldRepayFor, revokeTopUp, revokeRepayment } = opKinds

function actionOfOp({ kind, ref, account, amount: ausdMicro, paidAt }: Op): LaneAction {
  const wallet = lower(account)
  const leftMicro = ausdMicro
  const held = kind === heldTopUp || kind === heldRepayFor
  if (kind === topUp || kind === heldTopUp) return { does: 'credit', ref, wallet, ausdMicro, held, paidAt: 0n }
  if (kind === repayFor || kind === heldRepayFor) return { does: 'repay', ref, wallet, ausdMicro, held, paidAt }
  if (kind === revokeTopUp) return { does: 'revoke', ref, of: 'topup', leftMicro }
  if (kind === revokeRepayment) return { does: 'revoke', ref, of: 'settlement', leftMicro }
  return { does: 'extend', ref }
}

function lineActions(data: Hex): LaneAction[] | undefined {
  const call = decodeFunctionData({ abi: creditLineAbi, data })
  switch (call.functionName) {
    case 'many':
      return call.args[0].map((op) => actionOfOp(op as Op))
    case 'topUp': {
      const [ref, account, amount, held] = call.args
      return [actionOfOp({ kind: held ? heldTopUp : topUp, ref, account, amount, paidAt: 0n })]
    }
    case 'repayFor': {
      const [ref, account, amount, held, paidAt] = call.args
      return [actionOfOp({ kind: held ? heldRepayFor : repayFor, ref, account, amount, paidAt })]
    }
    case 'revokeTopUp':
      return [{ does: 'revoke', ref: call.args[0], of: 'topup', leftMicro: call.args[1] }]
    case 'revokeRepayment':
      return [{ does: 'revoke', ref: call.args[0], of: 'settlement', leftMicro: call.args[1] }]
    case 'extendHold':
      return [{ does: 'extend', ref: call.args[0] }]
    case 'setVerified':
      return [{ does: 'verify', wallet: lower(call.args[0]), is: call.args[1] }]
    case 'setFrozen':
      return [{ does: 'freeze', wallet: lower(call.args[0]), is: call.args[1] }]
    case 'autoRepay':
      return [{ does: 'autorepay', wallet: lower(call.args[0]) }]
    default:
      return undefined
  }
}

function transferActions(data: Hex): LaneAction[] | undefined {
  const call = decodeFunctionData({ abi: ausdAbi, data })
  if (call.functionName !== 'transferWithAuthorization') return undefined
  const [from, to, value, validAfter, validBefore, nonce, signature, ...more] = call.args
  if (more.length > 0 || typeof signature !== 'string') return undefined
  const numbers = { value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
  const authorization = canonical({ from, to, ...numbers, nonce, signature })
  return [{ does: 'move', authorization }]
}

/** Decodes a multicall of token transfers that may fail independently. */
function bundleActions(data: Hex, { ausd }: Contracts): LaneAction[] | undefined {
  const call = decodeFunctionData({ abi: multicall3Abi, data })
  if (call.functionName !== 'aggregate3') return undefined
  const actions = call.args[0].map(({ target, allowFailure, callData }) =>
    allowFailure && isAddressEqual(target, ausd) ? transferActions(callData) : undefined,
  )
  const known = actions.flatMap((one) => one ?? [])
  return known.length === actions.length ? known : undefined
}

type Logs = Parameters<typeof parseEventLogs>[0]['logs']

/**
 * Returns for each action whether it took effect. Actions of a batch fail independently, and a ref that was applied
 * before belongs to the earlier transaction. For a multicall, the token's events contain the authorizations that were
 * used.
 */
export function doneIn(
  actions: readonly LaneAction[],
  { to, reverted, logs }: { to: Address | null; reverted: boolean; logs: Logs },
  { ausd, creditLine }: Contracts,
): boolean[] {
  if (reverted) return actions.map(() => false)
  if (to && isAddressEqual(to, multicall3)) {
    const used = usedIn(logs, ausd)
    return actions.map((action) => action.does === 'move' && used.has(nameOf(action.authorization)))
  }
  const own = logs.filter(({ address }) => isAddressEqual(address, creditLine))
  const eventName = ['OpFailed' as const, 'AlreadyApplied' as const]
  const events = parseEventLogs({ abi: creditLineAbi, eventName, logs: own })
  const failed = new Set(events.flatMap((one) => (one.eventName === 'OpFailed' ? [Number(one.args.index)] : [])))
  const applied = new Set(events.flatMap((one) => (one.eventName === 'AlreadyApplied' ? [one.args.ref] : [])))
  return actions.map((action, position) => !failed.has(position) && !('ref' in action && applied.has(action.ref)))
}

const nameOf = ({ from, nonce }: Pick<SignedTransfer, 'from' | 'nonce'>) => `${from}:${nonce}`.toLowerCase()

function usedIn(logs: Logs, ausd: Address): Set<string> {
  const own = logs.filter(({ address }) => isAddressEqual(address, ausd))
  const events = parseEventLogs({ abi: ausdAbi, eventName: 'AuthorizationUsed', logs: own })
  return new Set(events.map(({ args }) => nameOf({ from: args.authorizer, nonce: args.nonce })))
}
