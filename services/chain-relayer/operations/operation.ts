import { contentHash } from '#platform/content-hash'
import type { Lifecycle } from '#platform/lifecycle'
import type { Limits } from '#platform/metrics/state-limits'
import { type AuthorizationTerms, canonical, type GivenAuthorization } from '#shared/chain/erc3009'
import { idFor } from '#shared/ids'
import type * as relay from '#shared/messages/relay'
import type { Message } from '#shared/messages/topic'
import { nameOf, type TransferName } from '../chain/authorization'

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
  /** Unsolicited AUSD, by the transfer that brought it; `nonce` of its authorization, if any. */
  giveback: TransferName & { wallet: `0x${string}`; ausd: string; nonce: `0x${string}` | null }
  send: { sendId: string; authorization: GivenAuthorization }
}
export type OperationKind = keyof Payloads
/** Kind and content of an order. */
export type Task = { [K in OperationKind]: { kind: K; payload: Payloads[K] } }[OperationKind]
export type PayloadOf<K extends OperationKind> = Payloads[K]

export const operationStates = ['waiting', 'assigned', 'settled', 'failed'] as const
export type OperationState = (typeof operationStates)[number]

/** Lifecycle of an operation; `assigned` means that exactly one transaction carries it. */
export const lifecycle: Lifecycle<OperationState> = {
  // Ends without a transaction if a third party did it, it was superseded, or it would revert.
  waiting: ['assigned', 'settled', 'failed'],
  // Waits again only if a noop or a foreign transaction used its nonce, or it reverted, at
  // finality.
  assigned: ['settled', 'failed', 'waiting'],
  settled: [],
  // Only a take: its authorization outlives the failure and anyone may still submit it.
  failed: ['settled'],
}

/** Returns the maximum age of an operation per state; `afterMs` comes from the configuration. */
export const limitsOf = (afterMs: number): Limits<OperationState> => {
  const underWay = { afterMs, alarm: 'oldest operation pending too long' }
  return {
    waiting: underWay,
    assigned: underWay,
    settled: { rests: 'final on the chain' },
    failed: { rests: 'reported; a take that can still be submitted is watched' },
  }
}

/** Failures after which the token no longer accepts the authorization. */
const closedReasons: ReadonlySet<string> = new Set([
  'authorization_used_elsewhere',
  'authorization_cancelled',
  'authorization_expired',
])

/**
 * Returns true if a third party may still submit the failed transfer, so that it must be watched. A
 * send is not watched: nothing is owed for it. A take stored without a nonce uses that of another
 * payout.
 */
export const mayHappenLate = (
  failed: { readonly kind: OperationKind; readonly authorizationNonce: string | null },
  reason: string,
): boolean =>
  failed.kind === 'take' && failed.authorizationNonce !== null && !closedReasons.has(reason)

/**
 * Guard against a second execution, per kind. Nothing guards against a second drip, so it keeps its
 * lane and nonce and is resent only if its transaction reverted at finality.
 */
export const guards: {
  readonly [K in OperationKind]: 'ref' | 'authorization' | 'idempotent' | 'none'
} = {
  credit: 'ref',
  repay: 'ref',
  // A ref of which no more than `left` is left stays as it is.
  revoke: 'ref',
  // A second extension moves the end slightly further, by at most one day in total.
  extend: 'idempotent',
  verify: 'idempotent',
  freeze: 'idempotent',
  drip: 'none',
  take: 'authorization',
  return: 'authorization',
  giveback: 'authorization',
  send: 'authorization',
}

/** Kinds accepted by `many` of the credit line. */
export const batchable = [
  'credit',
  'repay',
  'revoke',
  'extend',
] as const satisfies readonly OperationKind[]
export type BatchableTask = Extract<Task, { kind: (typeof batchable)[number] }>
export const isBatchable = (kind: OperationKind): boolean =>
  (batchable as readonly OperationKind[]).includes(kind)

/**
 * Kinds that race the end of a hold. They go first, and are examined even when sent in a batch,
 * because they may be too late.
 */
export const racing = ['revoke', 'extend'] as const satisfies readonly OperationKind[]
/** Returns true for decisions about a wallet, of which only the newest counts. */
export const isVerdict = (kind: OperationKind): boolean => kind === 'verify' || kind === 'freeze'
export const isRacing = (kind: OperationKind): boolean =>
  (racing as readonly OperationKind[]).includes(kind)

/**
 * Kinds that continue while relaying is paused: revocations, extensions and freezes, which protect
 * money; returns and givebacks, which belong to users; and repayments, whose debt would fall due.
 * Withdrawn verifications continue as well (`findDue`). Everything else waits.
 */
export const goesOn = [
  'revoke',
  'extend',
  'freeze',
  'return',
  'giveback',
  'repay',
] as const satisfies readonly OperationKind[]

/**
 * Returns the payer of the AUSD: a treasury that is short is refilled; a user's wallet is refused.
 */
export const payerOf = (kind: OperationKind): 'treasury' | 'user' =>
  kind === 'take' || kind === 'send' ? 'user' : 'treasury'

/** Returns true if the wallet can make the operation revert, by its balance or its code. */
export const isUpToWallet = (kind: OperationKind): boolean =>
  payerOf(kind) === 'user' || kind === 'drip'

/** Minimum time left until `validBefore` of a relayed transfer. */
export const leftMinSeconds = 60n

/** Returns true if the transfer may expire before it is in a block. */
export const lapsesSoon = (
  { validBefore }: Pick<AuthorizationTerms, 'validBefore'>,
  nowSeconds: bigint,
): boolean => BigInt(validBefore) < nowSeconds + leftMinSeconds

/** A task and its identity: one operation per (kind, cause), permanently. */
export type Order = Task & {
  readonly id: string
  /** The business id of the order, repeated in the outcome. */
  readonly cause: string
  readonly wallet: `0x${string}`
  /** The same cause with another hash is an error, not a repeat. */
  readonly contentHash: string
  /** The HTTP request that caused it, where several are stored together. */
  readonly requestId?: string | null
  /** Sequence number of the verify or freeze decisions about one wallet. */
  readonly revision: bigint | null
  readonly authorizationNonce: `0x${string}` | null
  /** AUSD (10⁻⁶) that will leave the wallet; 0 when none does. */
  readonly leavesMicro: bigint
}

const digits = (text: string) => BigInt(text).toString()

export const sendIdOf = (signed: GivenAuthorization) =>
  idFor('send', `${signed.from}:${signed.nonce}`)

const termsOf = ({ signature: _, ...terms }: GivenAuthorization): AuthorizationTerms => terms

/** Derives the order for a task: its id, cause and content hash. */
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
      return order(
        task,
        `${task.payload.refId}:${digits(task.payload.until)}`,
        task.payload.wallet,
        own,
      )
    case 'verify':
    case 'freeze': {
      const revision = BigInt(task.payload.revision)
      const cause = `${task.payload.wallet}:${revision}`
      return order(task, cause, task.payload.wallet, { ...own, revision })
    }
    case 'drip':
      return order(task, task.payload.wallet, task.payload.wallet, own)
    case 'return':
      return order(task, task.payload.payoutId, task.payload.wallet, own)
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
  return {
    ...({ kind: task.kind, payload: { ...task.payload, authorization } } as Task),
    id: operationId(task.kind, cause),
    cause,
    wallet: authorization.from,
    contentHash: contentHash(termsOf(authorization)),
    revision: null,
    authorizationNonce: authorization.nonce,
    leavesMicro: BigInt(authorization.value),
  }
}

const operationId = (kind: OperationKind, cause: string) => idFor('operation', `${kind}:${cause}`)
