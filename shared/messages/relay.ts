import { Type } from 'typebox'
import { Address, Amount, Authorization, Hash, UnixSeconds } from '#shared/messages/fields'
import { command, event } from '#shared/messages/topic'

/** What the relayer can be ordered to put on the chain. */
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

/**
 * What the ref on chain is made from: the payment id; for what is left of a payment after a part of
 * it was refunded, the payment id, a full stop and the number of the remainder.
 */
const RefId = Type.String({ pattern: '^pay_[A-Za-z0-9_-]{22}(\\.[1-9][0-9]{0,3})?$' })
/** Credit a paid top-up; `held` until the hold ends. */
export const CreditOrdered = command(
  'relay.credit',
  ['payments'],
  Type.Object({ refId: RefId, wallet: Address, ausd: Amount, held: Type.Boolean() }),
)
/**
 * Repay on the user's behalf; what exceeds the debt becomes collateral. `held`: what is repaid stays
 * encumbered, and the excess pending, until the hold ends. `paidAt`: when the payer paid, by the
 * provider's clock; it decides whether the debt was repaid in time.
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
/** Take back a held top-up, or a held repayment, that was refunded. */
export const RevokeOrdered = command(
  'relay.revoke',
  ['payments'],
  Type.Object({ refId: RefId, wallet: Address, of: Type.Enum(['topup', 'settlement']) }),
)
/**
 * Put off the end of a hold because the provider cannot be asked. `until` is the end it had when
 * this was ordered, so that each extension is an order of its own.
 */
export const ExtendOrdered = command(
  'relay.extend',
  ['payments'],
  Type.Object({ refId: RefId, wallet: Address, until: UnixSeconds }),
)
/** Stop a wallet from drawing and withdrawing, or end that. `revision` orders the two. */
export const FreezeOrdered = command(
  'relay.freeze',
  ['payments'],
  Type.Object({ wallet: Address, frozen: Type.Boolean(), revision: Amount }),
)
/** Set the verified flag. `revision` (unix ms of the verdict) orders approvals and withdrawals. */
export const VerifyOrdered = command(
  'relay.verify',
  ['gateway'],
  Type.Object({ wallet: Address, verified: Type.Boolean(), revision: Amount }),
)
/** Native coin for the user's own gas, once per wallet for ever. */
export const DripOrdered = command('relay.drip', ['gateway'], Type.Object({ wallet: Address }))
/** Move the user's AUSD to the treasury by their signed authorization. */
export const TakeOrdered = command(
  'relay.take',
  ['payouts'],
  Type.Object({
    ...{ payoutId: Type.String(), authorization: Authorization },
    /** When the cash-out was accepted; the authorization was unused then. */
    receivedAt: Type.Optional(UnixSeconds),
  }),
)
/** Give the AUSD of a payout that the bank refused back to the user. */
export const ReturnOrdered = command(
  'relay.return',
  ['payouts'],
  Type.Object({ payoutId: Type.String(), wallet: Address, ausd: Amount }),
)

const outcome = {
  operationId: Type.String(),
  /**
   * The business id of the order: ref id (extend: refId:until), payout id, send id, wallet (verify
   * and freeze: wallet:revision), or the transfer that is given back (transaction:log).
   */
  cause: Type.String(),
  wallet: Address,
}
const Settled = Type.Object({
  ...outcome,
  /** Null when nothing had to be sent: it already was so on the chain. */
  txHash: Type.Union([Hash, Type.Null()]),
  blockNumber: Type.Union([Amount, Type.Null()]),
})
const Failed = Type.Object({ ...outcome, reason: Type.String() })

/**
 * Final on the chain (at or below `finalized`). Of a take it may come after `failed`: whoever holds
 * the authorization may still have used it.
 */
export const relaySettled = <K extends RelayKind>(kind: K) =>
  event(`relay.${kind}.settled`, 'chain-relayer', Settled)
/** Finally not done, and the relayer never will do it under this cause. */
export const relayFailed = <K extends RelayKind>(kind: K) =>
  event(`relay.${kind}.failed`, 'chain-relayer', Failed)
