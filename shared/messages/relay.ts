import { type Static, Type } from 'typebox'
import { autoRepaySources } from '#shared/messages/credit'
import { Address, Amount, Authorization, Hash, UnixSeconds } from '#shared/messages/fields'
import { command, event } from '#shared/messages/topic'

export const relayKinds = [
  'credit',
  'repay',
  'revoke',
  'extend',
  'verify',
  'freeze',
  'drip',
  'take',
  'return',
  'giveback',
  'send',
  'autorepay',
] as const
export type RelayKind = (typeof relayKinds)[number]

/**
 * The payment id. If the payment is applied again after all of it was revoked, a full stop and the number of the
 * repetition follow.
 */
const RefId = Type.String({ pattern: '^pay_[A-Za-z0-9_-]{22}(\\.[1-9][0-9]{0,3})?$' })
export const CreditOrdered = command(
  'relay.credit',
  ['payments'],
  Type.Object({ refId: RefId, wallet: Address, ausd: Amount, held: Type.Boolean() }),
)
/**
 * Orders a repayment, whose excess over the debt becomes collateral. `held`: the repaid amount stays encumbered, and
 * the excess pending, until the hold ends. `paidAt`, by the provider's clock, decides on lateness.
 */
export const RepayOrdered = command(
  'relay.repay',
  ['payments'],
  Type.Object({
    refId: RefId,
    wallet: Address,
    ausd: Amount,
    held: Type.Boolean(),
    paidAt: UnixSeconds,
  }),
)
/**
 * Reverses a refunded, held top-up or repayment to `left` (10⁻⁶ AUSD), by default 0. Each `left` is a separate
 * order.
 */
export const RevokeOrdered = command(
  'relay.revoke',
  ['payments'],
  Type.Object({
    refId: RefId,
    wallet: Address,
    of: Type.Enum(['topup', 'settlement']),
    left: Type.Optional(Amount),
  }),
)
/**
 * Orders the extension of a hold, for when the provider cannot be queried. `until` is the current end, so that each
 * extension is a separate order.
 */
export const ExtendOrdered = command(
  'relay.extend',
  ['payments'],
  Type.Object({ refId: RefId, wallet: Address, until: UnixSeconds }),
)
/** Orders a freeze, which allows no draws and no withdrawals, or its end. `revision` orders freezes and unfreezes. */
export const FreezeOrdered = command(
  'relay.freeze',
  ['payments'],
  Type.Object({ wallet: Address, frozen: Type.Boolean(), revision: Amount }),
)
/** Orders the approval of a wallet, or its withdrawal. `revision` (Unix ms of the decision) orders these decisions. */
export const VerifyOrdered = command(
  'relay.verify',
  ['gateway'],
  Type.Object({ wallet: Address, verified: Type.Boolean(), revision: Amount }),
)
/**
 * Orders native coin for the user's own gas: once in a wallet's lifetime, and again as the refill of a UTC day, which is
 * given only if it is due. A refill that was not due may be ordered again on the same day, with another `asked`.
 */
export const DripOrdered = command(
  'relay.drip',
  ['gateway'],
  Type.Object({
    wallet: Address,
    refill: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' })),
    asked: Type.Optional(Type.String({ pattern: '^[0-9]{2}(-last)?$' })),
  }),
)
/** Orders the transfer of the user's AUSD to the treasury by the user's signed authorization. */
export const TakeOrdered = command(
  'relay.take',
  ['payouts'],
  Type.Object({
    payoutId: Type.String(),
    authorization: Authorization,
    /** Time when the cash-out was accepted, at which the authorization was unused. */
    receivedAt: Type.Optional(UnixSeconds),
  }),
)
/** Orders the return of the AUSD of a payout that the bank refused. */
export const ReturnOrdered = command(
  'relay.return',
  ['payouts'],
  Type.Object({ payoutId: Type.String(), wallet: Address, ausd: Amount }),
)

/**
 * Orders the automatic repayment of a debt from the borrower's own AUSD or collateral, as the borrower allowed on the
 * chain. The contract decides how much. `attempt` numbers the tries in a cycle from 0.
 */
export const AutorepayOrdered = command(
  'relay.autorepay',
  ['gateway'],
  Type.Object({ wallet: Address, cycle: Type.Integer({ minimum: 1 }), attempt: Type.Integer({ minimum: 0 }) }),
)

const outcome = {
  operationId: Type.String(),
  /**
   * Business id of the order: ref id (extend: refId:until; revoke in part: refId:left), payout id, send id, wallet
   * (verify and freeze: wallet:revision; refill: wallet:day:asked; autorepay: wallet:cycle:attempt), or the transfer being
   * returned (transaction:log).
   */
  cause: Type.String(),
  wallet: Address,
}
const Settled = Type.Object({
  ...outcome,
  /** Transaction of the outcome, or null if the chain was already in that state. */
  txHash: Type.Union([Hash, Type.Null()]),
  blockNumber: Type.Union([Amount, Type.Null()]),
  /**
   * What an automatic repayment took, and from where. Absent for other kinds, if the outcome is announced again, and in
   * earlier versions.
   */
  repaid: Type.Optional(Type.Object({ ausd: Amount, source: Type.Enum([...autoRepaySources]) })),
})
export type Repaid = NonNullable<Static<typeof Settled>['repaid']>
const Failed = Type.Object({ ...outcome, reason: Type.String() })

/**
 * Announces an outcome that is final on the chain. It may follow `failed` for a take that another holder of the
 * authorization submitted.
 */
export const relaySettled = <K extends RelayKind>(kind: K) => event(`relay.${kind}.settled`, 'chain-relayer', Settled)
/** Announces that the relayer will never execute the order under this cause. */
export const relayFailed = <K extends RelayKind>(kind: K) => event(`relay.${kind}.failed`, 'chain-relayer', Failed)
