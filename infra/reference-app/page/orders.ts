import type { PostCashout, PostSend, PostSettlement, PostTopup } from '#shared/api/money'
import type { BodyOf } from '#shared/api/route'
import { type Answered, type ClientRefusal, isPassing } from '#shared/client/client'

type Bodies = {
  readonly topup: BodyOf<typeof PostTopup>
  readonly settlement: BodyOf<typeof PostSettlement>
  readonly cashout: BodyOf<typeof PostCashout>
  readonly send: BodyOf<typeof PostSend>
}
/** Order at the gateway. Its body never changes, because its quote or nonce identifies it. */
export type AppOrder = {
  [K in keyof Bodies]: { readonly kind: K; readonly body: Bodies[K] }
}[keyof Bodies]
/** Order on the chain. Its nonce never changes, so only one of its transactions can be mined. */
export type ChainOrder = {
  readonly kind: 'draw' | 'repayFromCollateral' | 'approve' | 'setAutoRepay'
  readonly raw: `0x${string}`
  /** Hashes of `raw` and of the transactions that it replaced. */
  readonly hashes: readonly [`0x${string}`, ...`0x${string}`[]]
  readonly nonce: number
}
export type StoredOrder = AppOrder | ChainOrder

/** Thrown if an order of the same kind in another tab has no response yet. */
export class OrderOpen extends Error {
  override name = 'OrderOpen'
}

/** Orders with unknown outcome, at most one of a kind. They survive a reload. */
export type OpenOrders = ReturnType<typeof openOrders>

export function openOrders(storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>, wallet: string) {
  const keyOf = (kind: StoredOrder['kind']) => `order.${wallet}.${kind}`
  return {
    /** Stores an order. Throws `OrderOpen` rather than replace another one. */
    put: (order: StoredOrder): void => {
      const text = JSON.stringify(order)
      const stored = storage.getItem(keyOf(order.kind))
      if (stored !== null && stored !== text) throw new OrderOpen()
      storage.setItem(keyOf(order.kind), text)
    },
    /** Replaces an order. Throws `OrderOpen` if another tab has replaced or removed it. */
    replace: (order: ChainOrder, by: ChainOrder): void => {
      const key = keyOf(order.kind)
      if (storage.getItem(key) !== JSON.stringify(order)) throw new OrderOpen()
      storage.setItem(key, JSON.stringify(by))
    },
    /** Removes an order. A later one of its kind stays. */
    remove: (order: StoredOrder): void => {
      const key = keyOf(order.kind)
      if (storage.getItem(key) === JSON.stringify(order)) storage.removeItem(key)
    },
    get: <K extends StoredOrder['kind']>(kind: K): Extract<StoredOrder, { kind: K }> | undefined => {
      const text = storage.getItem(keyOf(kind))
      return text === null ? undefined : JSON.parse(text)
    },
  }
}

/**
 * Stores the order and removes it once its outcome is certain. It stays if `send` throws (no response), and if an
 * unrelated refusal follows such an attempt, which may have been accepted.
 */
export async function submit<T>(
  orders: OpenOrders,
  order: AppOrder,
  send: (order: AppOrder) => Promise<Answered<T>>,
): Promise<Answered<T>> {
  const isUnclear = orders.get(order.kind) !== undefined
  orders.put(order)
  const answer = await send(order)
  if ('ok' in answer || isAboutOrder(answer.refused) || !isUnclear) orders.remove(order)
  return answer
}

const isAboutOrder = (refusal: ClientRefusal): boolean => refusal.code !== 'sign_in_again' && !isPassing(refusal)
