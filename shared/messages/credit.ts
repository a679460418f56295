import { Type } from 'typebox'
import { Address, Timestamp, UnixSeconds } from '#shared/messages/fields'
import { event } from '#shared/messages/topic'

/** Reminders in order; each is sent at most once per cycle. */
export const reminderKinds = ['three_days_before', 'one_day_before', 'due', 'grace_ends'] as const
export type ReminderKind = (typeof reminderKinds)[number]

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
    occurredAt: Timestamp,
  }),
)
