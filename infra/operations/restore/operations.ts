import { contentHash } from '#platform/content-hash'
import { dripCause } from '#shared/chain/refill'
import { idFor } from '#shared/ids'
import type { Names } from './explain'
import type { LaneAction } from './lane-actions'
import { keyOf } from './lost-payouts'

/**
 * Returns the record of an operation, with which a repeated order does nothing and names this transaction. Undefined
 * for actions that are harmless to repeat and whose order cannot be read from the chain: extensions, freezes,
 * automatic repayments, and a flag or refill whose order NATS has lost.
 */
export function operationOf(action: LaneAction, names: Names, treasury: string) {
  switch (action.does) {
    case 'credit':
    case 'repay': {
      const named = names.refs.get(action.ref)
      if (!named) return undefined
      const { refId, wallet } = named
      const order = { refId, wallet, ausd: `${action.ausdMicro}`, held: action.held }
      const payload = action.does === 'repay' ? { ...order, paidAt: `${action.paidAt}` } : order
      return operation(action.does, refId, wallet, payload)
    }
    case 'revoke': {
      const named = names.refs.get(action.ref)
      if (!named) return undefined
      const { refId, wallet } = named
      const left = action.leftMicro > 0n ? `${action.leftMicro}` : undefined
      const order = { refId, wallet, of: action.of, ...(left ? { left } : {}) }
      return operation('revoke', left ? `${refId}:${left}` : refId, wallet, order)
    }
    case 'verify': {
      const order = names.bus.verifies.findLast(
        ({ wallet, verified }) => wallet === action.wallet && verified === action.is,
      )
      if (!order) return undefined
      const revision = BigInt(order.revision)
      const cause = `${action.wallet}:${revision}`
      return { ...operation('verify', cause, action.wallet, order), revision: `${revision}` }
    }
    case 'pay': {
      const { wallet } = action
      if (!names.dripped.has(wallet)) return operation('drip', wallet, wallet, { wallet })
      const refill = names.bus.drips.findLast((one) => one.wallet === wallet && one.refill !== undefined)
      return refill && operation('drip', dripCause(refill), wallet, { ...refill })
    }
    case 'move':
      return moveOperation(action.authorization, names, treasury)
    default:
      return undefined
  }
}
export type LostOperation = NonNullable<ReturnType<typeof operationOf>>

function moveOperation(
  authorization: Extract<LaneAction, { does: 'move' }>['authorization'],
  names: Names,
  treasury: string,
) {
  const { from: wallet, to, nonce, value } = authorization
  if (wallet === treasury) {
    const unasked = names.givebacks.get(nonce)
    if (unasked) return operation('giveback', unasked.name, unasked.wallet, unasked.payload)
    const back = names.returns.get(nonce)
    if (!back) return undefined
    const { payoutId } = back
    return operation('return', payoutId, back.wallet, {
      payoutId,
      wallet: back.wallet,
      ausd: value,
    })
  }
  const { signature: _, ...terms } = authorization
  const signed = { authorizationNonce: nonce, leavesMicro: value, contentHash: contentHash(terms) }
  if (to !== treasury) {
    const sendId = idFor('send', `${wallet}:${nonce}`)
    return { ...operation('send', sendId, wallet, { sendId, authorization }), ...signed }
  }
  const payoutId = names.takes.get(keyOf(authorization))
  if (!payoutId) return undefined
  return { ...operation('take', payoutId, wallet, { payoutId, authorization }), ...signed }
}

const operation = (kind: string, cause: string, wallet: string, payload: Readonly<Record<string, unknown>>) => ({
  id: idFor('operation', `${kind}:${cause}`),
  kind,
  cause,
  wallet,
  payload,
  contentHash: contentHash(payload),
  revision: null as string | null,
  authorizationNonce: null as string | null,
  leavesMicro: '0',
})
