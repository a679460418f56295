import { journalRules } from './journal'
import { paymentRules } from './payments'
import { payoutRules } from './payouts'
import type { BookRule } from './rule'
import { treasuryRules } from './treasury'
import { waitingRules } from './waiting'

export const rules: readonly BookRule[] = [
  ...journalRules,
  ...paymentRules,
  ...payoutRules,
  ...treasuryRules,
  ...waitingRules,
]
export const ruleNamed = (name: string): BookRule | undefined => rules.find((rule) => rule.name === name)
