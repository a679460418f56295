import { Type } from 'typebox'
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
] as const
export type RelayKind = (typeof relayKinds)[number]

/** The payment id; if applied again after all of it was revoked, with a full stop and the number of the repetition. */
const RefId = Type.String({ pattern: '^pay_[A-Za-z0-9_-]{22}(\\.[1-9][0-9]{0,3})?$' })
export const CreditOrdered = command(
  'relay.credit',
  ['payments'],
  Type.Object({ refId: RefId, wallet: Address, ausd: Amount, held: Type.Boolean() }),
)
/**
 * Any excess over the debt becomes collateral. `held`: the repaid amount stays encumbered, and the excess
 * pending, until the hold ends. `paidAt`, by the provider's clock, decides on lateness.
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
/** For when the provider cannot be queried. `until` is the current end, so that each extension is a separate order. */
export const ExtendOrdered = command(
  'relay.extend',
  ['payments'],
  Type.Object({ refId: RefId, wallet: Address, until: UnixSeconds }),
)
/** No draws and no withdrawals while frozen. `revision` orders freezes and unfreezes. */
export const FreezeOrdered = command(
  'relay.freeze',
  ['payments'],
  Type.Object({ wallet: Address, frozen: Type.Boolean(), revision: Amount }),
)
/** `revision` (unix ms of the decision) orders approvals and withdrawals. */
export const VerifyOrdered = command(
  'relay.verify',
  ['gateway'],
  Type.Object({ wallet: Address, verified: Type.Boolean(), revision: Amount }),
)
/** Native coin for the user's own gas, once in a wallet's lifetime. */
export const DripOrdered = command('relay.drip', ['gateway'], Type.Object({ wallet: Address }))
/** Moves the user's AUSD to the treasury by their signed authorization. */
export const TakeOrdered = command(
  'relay.take',
  ['payouts'],
  Type.Object({
    payoutId: Type.String(),
    authorization: Authorization,
    /** When the cash-out was accepted; the authorization was unused then. */
    receivedAt: Type.Optional(UnixSeconds),
  }),
)
/** For a payout that the bank refused. */
export const ReturnOrdered = command(
  'relay.return',
  ['payouts'],
  Type.Object({ payoutId: Type.String(), wallet: Address, ausd: Amount }),
)

const outcome = {
  operationId: Type.String(),
  /**
   * Business id of the order: ref id (extend: refId:until; revoke in part: refId:left), payout id, send id,
   * wallet (verify and freeze: wallet:revision), or the transfer being returned (transaction:log).
   */
  cause: Type.String(),
  wallet: Address,
}
const Settled = Type.Object({
  ...outcome,
  /** Null if the chain was already in that state. */
  txHash: Type.Union([Hash, Type.Null()]),
  blockNumber: Type.Union([Amount, Type.Null()]),
})
const Failed = Type.Object({ ...outcome, reason: Type.String() })

/** Final on the chain. May follow `failed` for a take that another holder of the authorization submitted. */
export const relaySettled = <K extends RelayKind>(kind: K) => event(`relay.${kind}.settled`, 'chain-relayer', Settled)
/** The relayer will never do it under this cause. */
export const relayFailed = <K extends RelayKind>(kind: K) => event(`relay.${kind}.failed`, 'chain-relayer', Failed)
