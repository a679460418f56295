import { Type } from 'typebox'
import { Address, Amount, Hash, Timestamp, UnixSeconds } from '#shared/messages/fields'
import { event } from '#shared/messages/topic'

/** Reminders in order; each is sent at most once per cycle. */
export const reminderKinds = ['three_days_before', 'one_day_before', 'due', 'grace_ends'] as const
export type ReminderKind = (typeof reminderKinds)[number]

/** Where the AUSD of an automatic repayment comes from. */
export const autoRepaySources = ['wallet', 'collateral'] as const
export type AutoRepaySource = (typeof autoRepaySources)[number]
export const AutoRepaySourceName = Type.Enum([...autoRepaySources], {
  title: 'AutoRepaySource',
  description:
    'Whether the AUSD of an automatic repayment comes from the wallet, which must have approved the credit line, or from ' +
    'the collateral.',
})

/** Announces that a debt is due soon. `cycle` is the open one; its dates are chain time. */
export const CreditDue = event(
  'credit.due',
  'gateway',
  Type.Object({
    wallet: Address,
    cycle: Type.Integer(),
    kind: Type.Enum([...reminderKinds]),
    dueAt: UnixSeconds,
    defaultsAt: UnixSeconds,
    /**
     * Set if the debt will be repaid automatically, and the source has enough by now: the most (10⁻⁶ AUSD) that is still
     * taken, and its source.
     */
    autoRepay: Type.Optional(Type.Object({ max: Amount, source: Type.Enum([...autoRepaySources]) })),
    occurredAt: Timestamp,
  }),
)

/** Reasons for which an automatic repayment failed. Until the default there is another try, at the latest a day later. */
export const autoRepayFailures = [
  'balance_too_low',
  'allowance_too_low',
  'collateral_too_low',
  'account_frozen',
  'reverted',
] as const
export type AutoRepayFailure = (typeof autoRepayFailures)[number]

/**
 * Announces the outcome of a try to repay a debt automatically. `repaid` may leave a part, if the bound is less. `ausd` is
 * what was repaid; it is absent if the try failed, or if its outcome is known only from a repetition after a restore.
 * `txHash` and `reason` belong to the two outcomes.
 */
export const CreditAutorepay = event(
  'credit.autorepay',
  'gateway',
  Type.Object({
    wallet: Address,
    cycle: Type.Integer(),
    outcome: Type.Enum(['repaid', 'failed']),
    reason: Type.Union([Type.Enum([...autoRepayFailures]), Type.Null()]),
    ausd: Type.Optional(Amount),
    txHash: Type.Union([Hash, Type.Null()]),
    occurredAt: Timestamp,
  }),
)
