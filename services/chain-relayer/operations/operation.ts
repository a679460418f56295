import { contentHash } from '#platform/content-hash'
import type { Lifecycle } from '#platform/lifecycle'
import type { Limits } from '#platform/metrics/state-limits'
import type { AuthorizationTerms } from '#shared/chain/erc3009'
import { canonical, type GivenAuthorization } from '#shared/chain/given-authorization'
import { dripCause } from '#shared/chain/refill'
import { idFor } from '#shared/ids'
import type * as relay from '#shared/messages/relay'
import type { Message } from '#shared/messages/topic'
import { nameOf, type TransferName } from '../chain/authorization'
import { doubtsMax } from '../chain/errors'

type Payloads = {
  credit: Message<typeof relay.CreditOrdered>
  repay: Message<typeof relay.RepayOrdered>
  revoke: Message<typeof relay.RevokeOrdered>
  extend: Message<typeof relay.ExtendOrdered>
  verify: Message<typeof relay.VerifyOrdered>
  freeze: Message<typeof relay.FreezeOrdered>
  drip: Message<typeof relay.DripOrdered>
  take: Message<typeof relay.TakeOrdered>
  return: Message<typeof relay.ReturnOrdered>
  autorepay: Message<typeof relay.AutorepayOrdered>
  /** Return of unsolicited AUSD, with the `nonce` of the authorization that brought it, if any. */
  giveback: TransferName & { wallet: `0x${string}`; ausd: string; nonce: `0x${string}` | null }
  send: { sendId: string; authorization: GivenAuthorization }
}
export type OperationKind = keyof Payloads
export type Task = { [K in OperationKind]: { kind: K; payload: Payloads[K] } }[OperationKind]
export type PayloadOf<K extends OperationKind> = Payloads[K]

export const operationStates = ['waiting', 'assigned', 'settled', 'failed'] as const
export type OperationState = (typeof operationStates)[number]
/** States of an operation that has not ended. */
export const openStates: readonly OperationState[] = ['waiting', 'assigned']

/** States of an operation. An `assigned` one is carried by exactly one transaction. */
export const lifecycle: Lifecycle<OperationState> = {
  // A waiting operation ends without a transaction if a third party did it, if it was superseded, or if it would
  // revert.
  waiting: ['assigned', 'settled', 'failed'],
  // An assigned operation leaves this state at finality. It waits again if a noop or a foreign transaction used its
  // nonce, or if its transaction reverted.
  assigned: ['settled', 'failed', 'waiting'],
  settled: [],
  // Only a failed take or send can settle, because anyone may still submit its authorization.
  failed: ['settled'],
}

export const limitsOf = (afterMs: number): Limits<OperationState> => {
  const pending = {
    afterMs,
    alarm: 'oldest operation pending too long',
    steps: '`dc logs chain-relayer`: its other alarms name the cause.',
  } as const
  return {
    waiting: { ...pending, awaits: 'a lane' },
    assigned: { ...pending, awaits: 'the transaction to become final' },
    settled: { rests: 'final on the chain' },
    failed: { rests: 'reported; a take or send that can still be submitted is watched' },
  }
}

/** Reasons after which the token no longer accepts the authorization. */
const closedReasons: ReadonlySet<string> = new Set([
  'authorization_used_elsewhere',
  'authorization_cancelled',
  'authorization_expired',
])

/**
 * Returns true if a third party may still submit the failed transfer. A take that was stored without a nonce uses that of
 * another payout. The signature of a send is public only once it was in a transaction.
 */
export const mayHappenLate = (
  failed: { readonly kind: OperationKind; readonly authorizationNonce: string | null; readonly tries: number },
  reason: string,
): boolean => {
  const isPublic = failed.kind === 'take' || (failed.kind === 'send' && (failed.tries > 0 || reason === 'reverted'))
  // guard: a take that shares its transfer with another never counts as late
  return isPublic && failed.authorizationNonce !== null && !closedReasons.has(reason)
}

/**
 * Guard of each kind against a second execution. Nothing prevents a second drip, so it keeps its lane and nonce and is
 * resent only if its transaction reverted at finality.
 */
export const guards: {
  readonly [K in OperationKind]: 'ref' | 'authorization' | 'idempotent' | 'none'
} = {
  credit: 'ref',
  repay: 'ref',
  revoke: 'ref',
  // A second extension moves the end slightly, by at most one day in total.
  extend: 'idempotent',
  verify: 'idempotent',
  freeze: 'idempotent',
  drip: 'none',
  take: 'authorization',
  return: 'authorization',
  giveback: 'authorization',
  send: 'authorization',
  // A second one takes no more than the borrower's bound for the cycle.
  autorepay: 'idempotent',
}

const batchable = ['credit', 'repay', 'revoke', 'extend'] as const satisfies readonly OperationKind[]
export type BatchableTask = Extract<Task, { kind: (typeof batchable)[number] }>
export const isBatchable = (kind: OperationKind): boolean => (batchable as readonly OperationKind[]).includes(kind)

/** Kinds that go first, and are examined even in a batch, because the hold may end. */
export const racing = ['revoke', 'extend'] as const satisfies readonly OperationKind[]
/** Returns true for decisions, of which only the newest about a wallet counts. */
export const isVerdict = (kind: OperationKind): boolean => kind === 'verify' || kind === 'freeze'
/**
 * Returns true for kinds that protect money which a user could otherwise take away. They are assigned before anything
 * else is examined.
 */
export const isProtective = (kind: OperationKind): boolean => isRacing(kind) || kind === 'freeze'
export const isRacing = (kind: OperationKind): boolean => (racing as readonly OperationKind[]).includes(kind)

/**
 * Kinds that continue while relaying is paused: they protect money (revoke, extend, freeze), belong to users (return,
 * giveback), or would fall due (repay, autorepay).
 */
export const goesOn = [
  'revoke',
  'extend',
  'freeze',
  'return',
  'giveback',
  'repay',
  'autorepay',
] as const satisfies readonly OperationKind[]

export const payerOf = (kind: OperationKind): 'treasury' | 'user' =>
  kind === 'take' || kind === 'send' || kind === 'autorepay' ? 'user' : 'treasury'

/** Returns true if the wallet's balance or code can make the operation revert. */
export const isUpToWallet = (kind: OperationKind): boolean => payerOf(kind) === 'user' || kind === 'drip'

/**
 * Returns true if an operation fails that its final transaction did not execute: user-controlled code made it revert
 * (`oneTry`), or it was tried too often. An automatic repayment is sent once more after a revert, because a wallet that
 * moves its AUSD away between examination and inclusion makes each revert at our cost, and the next try comes soon.
 */
export function isHopeless(
  kind: OperationKind,
  tries: number,
  { hasReverted, oneTry }: { readonly hasReverted: boolean; readonly oneTry: boolean },
): boolean {
  if (oneTry) return hasReverted
  return tries > (kind === 'autorepay' && hasReverted ? 1 : doubtsMax)
}

/**
 * How long a signed transfer may wait for a lane, in ms since its order. Afterwards it fails: its payout's
 * rate and cover are promised until then, and the wallet's own code must not decide how long that is.
 */
export const transferEndsMs = 5 * 60_000

const transferRestMinMs = 500
const transferRestMaxMs = 60_000

/**
 * Time in ms until a signed transfer is examined again that was neither accepted nor refused. It grows with the
 * age of the order, so that a wallet whose code never decides costs ten examinations in all.
 */
export const transferRestMs = (ageMs: number): number =>
  Math.min(transferRestMaxMs, Math.max(transferRestMinMs, Math.floor(ageMs / 2)))

/** The longest time until an operation is examined again, in ms. */
export const restMaxMs = 5 * 60_000

export const leftMinSeconds = 60n

export const lapsesSoon = ({ validBefore }: Pick<AuthorizationTerms, 'validBefore'>, nowSeconds: bigint): boolean =>
  BigInt(validBefore) < nowSeconds + leftMinSeconds

/** An order, of which there is one operation per kind and cause, permanently. */
export type Order = Task & {
  readonly id: string
  /** The business id, which the outcome repeats. */
  readonly cause: string
  readonly wallet: `0x${string}`
  /** Hash of the content. The same cause with another hash is an error, not a repeat. */
  readonly contentHash: string
  readonly requestId?: string | null
  /** Number of a decision about a wallet. */
  readonly revision: bigint | null
  readonly authorizationNonce: `0x${string}` | null
  /** AUSD (10⁻⁶) that will leave the wallet. */
  readonly leavesMicro: bigint
}

const digits = (text: string) => BigInt(text).toString()

export const sendIdOf = (signed: GivenAuthorization) => idFor('send', `${signed.from}:${signed.nonce}`)

const termsOf = ({ signature: _, ...terms }: GivenAuthorization): AuthorizationTerms => terms

export function orderOf(task: Task): Order {
  const own = { revision: null, authorizationNonce: null, leavesMicro: 0n }
  switch (task.kind) {
    case 'credit':
    case 'repay':
      return order(task, task.payload.refId, task.payload.wallet, own)
    case 'revoke': {
      const { refId, left, wallet } = task.payload
      return order(task, left === undefined ? refId : `${refId}:${digits(left)}`, wallet, own)
    }
    case 'extend':
      return order(task, `${task.payload.refId}:${digits(task.payload.until)}`, task.payload.wallet, own)
    case 'verify':
    case 'freeze': {
      const revision = BigInt(task.payload.revision)
      const cause = `${task.payload.wallet}:${revision}`
      return order(task, cause, task.payload.wallet, { ...own, revision })
    }
    case 'drip':
      return order(task, dripCause(task.payload), task.payload.wallet, own)
    case 'return':
      return order(task, task.payload.payoutId, task.payload.wallet, own)
    case 'autorepay': {
      const { wallet, cycle, attempt } = task.payload
      return order(task, `${wallet}:${cycle}:${attempt}`, wallet, own)
    }
    case 'giveback': {
      const { wallet, nonce: authorizationNonce } = task.payload
      return order(task, nameOf(task.payload), wallet, { ...own, authorizationNonce })
    }
    case 'take':
      return signedOrder(task, task.payload.payoutId)
    case 'send':
      return signedOrder(task, task.payload.sendId)
  }
}

type Own = Pick<Order, 'revision' | 'authorizationNonce' | 'leavesMicro'>

function order(task: Task, cause: string, wallet: Order['wallet'], own: Own): Order {
  return {
    ...task,
    ...own,
    id: operationId(task.kind, cause),
    cause,
    wallet,
    contentHash: contentHash(task.payload),
  }
}

function signedOrder(task: Extract<Task, { kind: 'take' | 'send' }>, cause: string): Order {
  const authorization = canonical(task.payload.authorization)
  // The compiler does not see that the kind and its payload still belong together.
  const signed = { kind: task.kind, payload: { ...task.payload, authorization } } as Task
  return {
    ...signed,
    id: operationId(task.kind, cause),
    cause,
    wallet: authorization.from,
    contentHash: contentHash(termsOf(authorization)),
    revision: null,
    authorizationNonce: authorization.nonce,
    leavesMicro: BigInt(authorization.value),
  }
}

// guard: a cause has one operation
const operationId = (kind: OperationKind, cause: string) => idFor('operation', `${kind}:${cause}`)
