import type { RetainedMessages } from './bus'
import { type KnownRows, namesOf, type RefPayment, returnNonce } from './known'
import type { LaneTransaction } from './lane'
import type { LaneAction } from './lane-actions'
import { keyOf } from './lost-payouts'
import type { LostPayment, LostPayout, LostRows } from './world'

/** Everything that can explain a transaction: rows, messages, and rows about to be restored. */
export type Names = Pick<KnownRows, 'refs' | 'takes' | 'returns' | 'givebacks' | 'asked' | 'dripped' | 'frozen'> & {
  bus: RetainedMessages
  /** Wallets verified since the backup. Each of them gets native coin. */
  verified: ReadonlySet<string>
}

export function namesWith(
  known: KnownRows,
  bus: RetainedMessages,
  payments: LostRows<LostPayment>,
  payouts: LostRows<LostPayout>,
  lanes: readonly LaneTransaction[],
): Names {
  const refs = payments.rows.flatMap(({ id, wallet, kind }) => namesOf(id, 0, wallet, kind))
  const takes = payouts.rows.map((row) => [keyOf(row.authorization), row.id] as const)
  const returns = payouts.rows.map(
    ({ id, wallet, ausdMicro }) => [returnNonce(id), { payoutId: id, wallet, ausdMicro }] as const,
  )
  return {
    asked: known.asked,
    dripped: known.dripped,
    frozen: known.frozen,
    givebacks: known.givebacks,
    bus,
    verified: new Set(
      lanes.flatMap(({ actions }) =>
        (actions ?? []).flatMap((one) => (one.does === 'verify' && one.is ? [one.wallet] : [])),
      ),
    ),
    refs: new Map([...known.refs, ...refs]),
    takes: new Map([...known.takes, ...takes]),
    returns: new Map([...known.returns, ...returns]),
  }
}

export type Explained = { action: LaneAction & { done: boolean }; line: string; unexplained: boolean }

/** Finds the reason of each action. A reverted transaction needs no explanation. */
export function explain({ actions, reverted }: LaneTransaction, names: Names, treasury: string): Explained[] {
  if (!actions)
    return [
      {
        action: { does: 'nothing', done: false },
        line: reverted ? 'unknown call, reverted' : 'a call that the relayer never makes',
        unexplained: !reverted,
      },
    ]
  return actions.map((action) => {
    const why = whyOf(action, names, treasury)
    const line = `${textOf(action)}: ${why ?? 'unexplained'}${action.done ? '' : ' (no effect)'}`
    return { action: action, line: line, unexplained: action.done && why === undefined }
  })
}

function whyOf(action: LaneAction, names: Names, treasury: string): string | undefined {
  switch (action.does) {
    case 'nothing':
      return 'uses a nonce'
    case 'credit':
    case 'repay': {
      const named = names.refs.get(action.ref)
      return named?.wallet === action.wallet ? `${named.kind} ${named.refId}` : undefined
    }
    case 'revoke':
    case 'extend':
      return nameOf(names.refs.get(action.ref))
    case 'verify':
      if (names.bus.verifies.some((one) => one.wallet === action.wallet && one.verified === action.is)) return 'ordered'
      return names.asked.has(action.wallet) ? 'its identity is rechecked' : undefined
    case 'pay':
      if (names.bus.drips.some(({ wallet }) => wallet === action.wallet)) return 'ordered'
      if (names.verified.has(action.wallet)) return 'its wallet was verified'
      if (names.dripped.has(action.wallet)) return 'a refill'
      return names.asked.has(action.wallet) ? 'its identity is rechecked' : undefined
    case 'freeze': {
      const ordered = names.bus.freezes.some((one) => one.wallet === action.wallet && one.frozen === action.is)
      return ordered || names.frozen.has(action.wallet) ? 'ordered by payments' : undefined
    }
    case 'autorepay':
      return 'allowed by its wallet, as the contract checks'
    case 'move':
      return moveOf(action.authorization, names, treasury)
  }
}

const nameOf = (named: RefPayment | undefined) => named && `${named.kind} ${named.refId}`

type Move = Extract<LaneAction, { does: 'move' }>['authorization']

function moveOf(authorization: Move, names: Names, treasury: string): string | undefined {
  const { from, to, nonce, value } = authorization
  if (from === treasury) {
    const [back, unasked] = [names.returns.get(nonce), names.givebacks.get(nonce)]
    const known = back ?? unasked
    if (known?.wallet !== to || known.ausdMicro !== BigInt(value)) return undefined
    return back ? `returns cash-out ${back.payoutId}` : `returns ${unasked!.name}`
  }
  if (to !== treasury) return 'a send, signed by its wallet'
  const payoutId = names.takes.get(keyOf(authorization))
  return payoutId && `takes for cash-out ${payoutId}`
}

function textOf(action: LaneAction): string {
  switch (action.does) {
    case 'credit':
    case 'repay':
      return `${action.does} ${action.ausdMicro} micro-AUSD for ${action.wallet}`
    case 'revoke':
      return `revoke ${action.ref} until ${action.leftMicro} micro-AUSD are left`
    case 'extend':
      return `extend ${action.ref}`
    case 'verify':
    case 'freeze':
      return `${action.does} ${action.wallet} ${action.is ? 'on' : 'off'}`
    case 'autorepay':
      return `automatic repayment of ${action.wallet}`
    case 'move': {
      const { value, from, to } = action.authorization
      return `${value} micro-AUSD from ${from} to ${to}`
    }
    case 'pay':
      return `native coin for ${action.wallet}`
    case 'nothing':
      return 'nothing'
  }
}
