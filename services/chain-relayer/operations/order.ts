import { createHash } from 'node:crypto'
import { type AuthorizationTerms, canonical, type GivenAuthorization } from '#shared/chain/erc3009'
import { idFor } from '#shared/ids'
import type { Kind, Task } from './operation'

/** A task with what makes it unique: one operation for ever per (kind, cause). */
export type Order = Task & {
  readonly id: string
  /** The business id that ordered it, as the outcome will name it. */
  readonly cause: string
  readonly wallet: `0x${string}`
  /** The same cause with another hash is a contradiction, never a repeat. */
  readonly contentHash: string
  /** Orders what was decided of one wallet: verified or not, frozen or not. */
  readonly revision: bigint | null
  readonly authorizationNonce: `0x${string}` | null
  /** AUSD (10⁻⁶) that will leave the wallet; 0 when none does. */
  readonly leavesMicro: bigint
}

const lower = (hex: string) => hex.toLowerCase() as `0x${string}`
const digits = (text: string) => BigInt(text).toString()

export const sendIdOf = (signed: GivenAuthorization) =>
  idFor('send', `${lower(signed.from)}:${lower(signed.nonce)}`)

const termsOf = ({ signature: _, ...terms }: GivenAuthorization): AuthorizationTerms => terms

const hashOf = (content: Record<string, unknown>): string => {
  const sorted = (_: string, value: unknown) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return createHash('sha256').update(JSON.stringify(content, sorted)).digest('hex')
}

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
      const cause = `${lower(task.payload.wallet)}:${revision}`
      return order(task, cause, task.payload.wallet, { ...own, revision })
    }
    case 'drip':
      return order(task, lower(task.payload.wallet), task.payload.wallet, own)
    case 'return':
      return order(task, task.payload.payoutId, task.payload.wallet, own)
    case 'take':
      return signedOrder(task, task.payload.payoutId)
    case 'send':
      return signedOrder(task, task.payload.sendId)
  }
}

type Own = Pick<Order, 'revision' | 'authorizationNonce' | 'leavesMicro'>

function order(task: Task, cause: string, wallet: string, own: Own): Order {
  const payload = { ...task.payload, wallet: lower(wallet) }
  return {
    ...({ kind: task.kind, payload } as Task),
    ...own,
    id: operationId(task.kind, cause),
    cause,
    wallet: lower(wallet),
    contentHash: hashOf(payload),
  }
}

function signedOrder(task: Extract<Task, { kind: 'take' | 'send' }>, cause: string): Order {
  const authorization = canonical(task.payload.authorization)
  return {
    ...({ kind: task.kind, payload: { ...task.payload, authorization } } as Task),
    id: operationId(task.kind, cause),
    cause,
    wallet: lower(authorization.from),
    contentHash: hashOf(termsOf(authorization)),
    revision: null,
    authorizationNonce: lower(authorization.nonce),
    leavesMicro: BigInt(authorization.value),
  }
}

export const operationId = (kind: Kind, cause: string) => idFor('operation', `${kind}:${cause}`)
