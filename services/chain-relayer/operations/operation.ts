import { type AuthorizationTerms, canonical, type GivenAuthorization } from '#shared/chain/erc3009'
import { contentHash } from '#shared/content-hash'
import { idFor } from '#shared/ids'
import type { Lifecycle } from '#shared/lifecycle'
import type * as relay from '#shared/messages/relay'
import type { Message } from '#shared/messages/topic'
import type { Limits } from '#shared/overdue'
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
  /** AUSD that came to the treasury by this transfer, and by which authorization; null: by none. */
  giveback: TransferName & { wallet: `0x${string}`; ausd: string; nonce: `0x${string}` | null }
  send: { sendId: string; authorization: GivenAuthorization }
}
export type Kind = keyof Payloads
/** What an operation is to do: its kind and the content of the order. */
export type Task = { [K in Kind]: { kind: K; payload: Payloads[K] } }[Kind]
export type PayloadOf<K extends Kind> = Payloads[K]

export const operationStates = ['waiting', 'assigned', 'settled', 'failed'] as const
export type OperationState = (typeof operationStates)[number]

/** An operation on its way; `assigned` means that one transaction, on one lane and nonce, carries it. */
export const lifecycle: Lifecycle<OperationState> = {
  // Settled or failed without a transaction: done by somebody else, superseded, or sure to revert.
  waiting: ['assigned', 'settled', 'failed'],
  // Waiting again only when its transaction reverted, or gave way to a noop, at finality.
  assigned: ['settled', 'failed', 'waiting'],
  settled: [],
  // A take alone: its authorization outlives the failure, and anybody may still use it.
  failed: ['settled'],
}

/** How long an operation may be in a state; `afterMs` is configured. */
export const limitsOf = (afterMs: number): Limits<OperationState> => {
  const underWay = { afterMs, alarm: 'oldest operation pending too long' }
  return {
    waiting: underWay,
    assigned: underWay,
    settled: { rests: 'it is final on the chain' },
    failed: { rests: 'it was reported; a take that may still happen is watched' },
  }
}

/** Failures after which the token lets nobody use the authorization any more. */
const closedReasons: ReadonlySet<string> = new Set([
  'authorization_used_elsewhere',
  'authorization_cancelled',
  'authorization_expired',
])

/**
 * Whether somebody else may still do what failed, so that it must be watched. A send needs no watch:
 * nothing is owed for it. A take without a nonce of its own shares that of another payout.
 */
export const mayHappenLate = (
  failed: { readonly kind: Kind; readonly authorizationNonce: string | null },
  reason: string,
): boolean =>
  failed.kind === 'take' && failed.authorizationNonce !== null && !closedReasons.has(reason)

/**
 * Who refuses a second execution. Nobody refuses a second drip: it stays on its lane and nonce for
 * ever, and is never sent anew unless its transaction finally reverted, which moved nothing.
 */
export const guards: { readonly [K in Kind]: 'ref' | 'authorization' | 'idempotent' | 'none' } = {
  credit: 'ref',
  repay: 'ref',
  revoke: 'ref',
  // A second one puts the end off a little further, by a day in all at most.
  extend: 'idempotent',
  verify: 'idempotent',
  freeze: 'idempotent',
  drip: 'none',
  take: 'authorization',
  return: 'authorization',
  giveback: 'authorization',
  send: 'authorization',
}

/** What `many` of the credit line takes. */
export const batchable = ['credit', 'repay', 'revoke', 'extend'] as const satisfies readonly Kind[]
export type BatchableTask = Extract<Task, { kind: (typeof batchable)[number] }>
export const isBatchable = (kind: Kind): boolean => (batchable as readonly Kind[]).includes(kind)

/**
 * What races the end of a hold: it goes before everything else that waits, and is examined before it
 * is sent even in a batch, because a moment later it may be of no use.
 */
export const racing = ['revoke', 'extend'] as const satisfies readonly Kind[]
/** What is decided about a wallet: of several the newest counts. */
export const isVerdict = (kind: Kind): boolean => kind === 'verify' || kind === 'freeze'
export const isRacing = (kind: Kind): boolean => (racing as readonly Kind[]).includes(kind)

/**
 * What goes on while relaying is paused: what takes money back in time or keeps it from leaving
 * (revocations, extensions, freezes, verifications withdrawn), what gives back what is a user's
 * (returns, givebacks), and repayments, whose debt would fall due meanwhile. Everything else waits.
 */
export const goesOn = [
  'revoke',
  'extend',
  'freeze',
  'return',
  'giveback',
  'repay',
] as const satisfies readonly Kind[]

/** Whose AUSD moves: a treasury that is short is a matter of time, a user's is a refusal. */
export const payerOf = (kind: Kind): 'treasury' | 'user' =>
  kind === 'take' || kind === 'send' ? 'user' : 'treasury'

/** Whether the wallet itself can make it revert, by its balance or its code, as often as it likes. */
export const isUpToWallet = (kind: Kind): boolean => payerOf(kind) === 'user' || kind === 'drip'

/** How far ahead the end of a transfer that is relayed must be. */
export const leftMinSeconds = 60n

/** Whether so little time is left that the transfer may lapse on its way into a block. */
export const lapsesSoon = (
  { validBefore }: Pick<AuthorizationTerms, 'validBefore'>,
  nowSeconds: bigint,
): boolean => BigInt(validBefore) < nowSeconds + leftMinSeconds

/** A task with what makes it unique: one operation for ever per (kind, cause). */
export type Order = Task & {
  readonly id: string
  /** The business id that ordered it, as the outcome will name it. */
  readonly cause: string
  readonly wallet: `0x${string}`
  /** The same cause with another hash is a contradiction, never a repeat. */
  readonly contentHash: string
  /** The request that it is because of, where many are stored together. */
  readonly requestId?: string | null
  /** Orders what was decided of one wallet: verified or not, frozen or not. */
  readonly revision: bigint | null
  readonly authorizationNonce: `0x${string}` | null
  /** AUSD (10⁻⁶) that will leave the wallet; 0 when none does. */
  readonly leavesMicro: bigint
}

const digits = (text: string) => BigInt(text).toString()

export const sendIdOf = (signed: GivenAuthorization) =>
  idFor('send', `${signed.from}:${signed.nonce}`)

const termsOf = ({ signature: _, ...terms }: GivenAuthorization): AuthorizationTerms => terms

/** Turns a task, as it was ordered, into the one operation it asks for. */
export function orderOf(task: Task): Order {
  const own = { revision: null, authorizationNonce: null, leavesMicro: 0n }
  switch (task.kind) {
    case 'credit':
    case 'repay':
    case 'revoke':
      return order(task, task.payload.refId, task.payload.wallet, own)
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

const operationId = (kind: Kind, cause: string) => idFor('operation', `${kind}:${cause}`)
