import type { PostCashout, PostSend, PostSettlement, PostTopup } from '#shared/api/money'
import type { BodyOf } from '#shared/api/route'
import { type Answered, isPassing, type Refusal } from '#shared/client/client'

type Bodies = {
  readonly topup: BodyOf<typeof PostTopup>
  readonly settlement: BodyOf<typeof PostSettlement>
  readonly cashout: BodyOf<typeof PostCashout>
  readonly send: BodyOf<typeof PostSend>
}
/** An order of the gateway. Its body never changes: its quote or its nonce is its identity. */
export type AppOrder = {
  [K in keyof Bodies]: { readonly kind: K; readonly body: Bodies[K] }
}[keyof Bodies]
/** A signed transaction of the wallet itself. Its bytes never change: its nonce allows only one. */
export type ChainOrder = {
  readonly kind: 'draw' | 'repayFromCollateral'
  readonly raw: `0x${string}`
  readonly hash: `0x${string}`
  readonly nonce: number
}
export type StoredOrder = AppOrder | ChainOrder

/** Another order of the same kind, of another tab, is still without an answer. */
export class OrderOpen extends Error {
  override name = 'OrderOpen'
}

/** Orders whose outcome is not known yet, at most one of a kind; they outlive a reload of the page. */
export type OpenOrders = ReturnType<typeof openOrders>

export function openOrders(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
  wallet: string,
) {
  const keyOf = (kind: StoredOrder['kind']) => `order.${wallet}.${kind}`
  return {
    /** Stores an order before it is sent. Throws `OrderOpen` rather than forget another one. */
    put: (order: StoredOrder): void => {
      const text = JSON.stringify(order)
      const stored = storage.getItem(keyOf(order.kind))
      if (stored !== null && stored !== text) throw new OrderOpen()
      storage.setItem(keyOf(order.kind), text)
    },
    /** Forgets this order; a later one of its kind stays. */
    remove: (order: StoredOrder): void => {
      const key = keyOf(order.kind)
      if (storage.getItem(key) === JSON.stringify(order)) storage.removeItem(key)
    },
    /** Returns the open order of a kind, written by `put` of this or an earlier page. */
    get: <K extends StoredOrder['kind']>(
      kind: K,
    ): Extract<StoredOrder, { kind: K }> | undefined => {
      const text = storage.getItem(keyOf(kind))
      return text === null ? undefined : JSON.parse(text)
    },
  }
}

/**
 * Sends an order that is stored before, and forgets it once its outcome is certain. It stays stored if `send`
 * throws (no answer), and if an attempt without an answer is followed by a refusal that does not concern the
 * order: that attempt may have been accepted. Sending it again is safe, because it is the same order.
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

const isAboutOrder = (refusal: Refusal): boolean =>
  refusal.code !== 'sign_in_again' && !isPassing(refusal)
