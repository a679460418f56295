import type { RetainedMessages } from './bus'
import { type KnownRows, namesOf, type RefPayment, returnNonce } from './known'
import type { LaneTransaction } from './lane'
import type { LaneAction } from './lane-actions'
import { keyOf } from './lost-payouts'
import type { LostPayment, LostPayout, LostRows } from './world'

/** Everything that can explain a transaction: rows, bus, and rows about to be restored. */
export type Names = Pick<KnownRows, 'refs' | 'takes' | 'returns' | 'givebacks' | 'asked' | 'frozen'> & {
  bus: RetainedMessages
  /** Verified since the backup; each gets native coin. */
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
    frozen: known.frozen,
    givebacks: known.givebacks,
    bus,
    verified: new Set(
      lanes.flatMap(({ deeds }) =>
        (deeds ?? []).flatMap((one) => (one.does === 'verify' && one.is ? [one.wallet] : [])),
      ),
    ),
    refs: new Map([...known.refs, ...refs]),
    takes: new Map([...known.takes, ...takes]),
    returns: new Map([...known.returns, ...returns]),
  }
}

export type Explained = { deed: LaneAction & { done: boolean }; told: string; unexplained: boolean }

/** A reverted transaction needs no explanation. */
export function explain({ deeds, reverted }: LaneTransaction, names: Names, treasury: string): Explained[] {
  if (!deeds)
    return [
      {
        deed: { does: 'nothing', done: false },
        told: reverted ? 'unknown call, reverted' : 'a call that the relayer never makes',
        unexplained: !reverted,
      },
    ]
  return deeds.map((deed) => {
    const why = whyOf(deed, names, treasury)
    const told = `${textOf(deed)}: ${why ?? 'unexplained'}${deed.done ? '' : ' (no effect)'}`
    return { deed, told, unexplained: deed.done && why === undefined }
  })
}

function whyOf(deed: LaneAction, names: Names, treasury: string): string | undefined {
  switch (deed.does) {
    case 'nothing':
      return 'uses a nonce'
    case 'credit':
    case 'repay': {
      const named = names.refs.get(deed.ref)
      return named?.wallet === deed.wallet ? `${named.kind} ${named.refId}` : undefined
    }
    case 'revoke':
    case 'extend':
      return nameOf(names.refs.get(deed.ref))
    case 'verify':
      if (names.bus.verifies.some((one) => one.wallet === deed.wallet && one.verified === deed.is)) return 'ordered'
      return names.asked.has(deed.wallet) ? 'its identity is rechecked' : undefined
    case 'pay':
      if (names.bus.drips.has(deed.wallet)) return 'ordered'
      if (names.verified.has(deed.wallet)) return 'its wallet was verified'
      return names.asked.has(deed.wallet) ? 'its identity is rechecked' : undefined
    case 'freeze': {
      const ordered = names.bus.freezes.some((one) => one.wallet === deed.wallet && one.frozen === deed.is)
      return ordered || names.frozen.has(deed.wallet) ? 'ordered by payments' : undefined
    }
    case 'move':
      return moveOf(deed.authorization, names, treasury)
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

function textOf(deed: LaneAction): string {
  switch (deed.does) {
    case 'credit':
    case 'repay':
      return `${deed.does} ${deed.ausdMicro} micro-AUSD for ${deed.wallet}`
    case 'revoke':
      return `revoke ${deed.ref} until ${deed.leftMicro} micro-AUSD are left`
    case 'extend':
      return `extend ${deed.ref}`
    case 'verify':
    case 'freeze':
      return `${deed.does} ${deed.wallet} ${deed.is ? 'on' : 'off'}`
    case 'move': {
      const { value, from, to } = deed.authorization
      return `${value} micro-AUSD from ${from} to ${to}`
    }
    case 'pay':
      return `native coin for ${deed.wallet}`
    case 'nothing':
      return 'nothing'
  }
}
