import * as chain from '#shared/messages/chain'
import { CreditAutorepay, CreditDue } from '#shared/messages/credit'
import { deadLetterDecisions } from '#shared/messages/dead-letters'
import { EventResend } from '#shared/messages/events'
import { IdentityDecided, IdentityErased, VerifiedName } from '#shared/messages/identity'
import { IndexerDebt, IndexerDue, IndexerRecord } from '#shared/messages/indexer'
import { ConsoleAttention, ConsoleFind, ConsoleItem, ConsoleWatch, HeartbeatsMissed } from '#shared/messages/operations'
import * as payments from '#shared/messages/payments'
import * as payouts from '#shared/messages/payouts'
import { FlagOrder, PersonRule, PersonWithdraw, personErasures, personReads } from '#shared/messages/person'
import * as pricing from '#shared/messages/pricing'
import * as relay from '#shared/messages/relay'
import { IndexerStatement, PaymentsStatement, PayoutsStatement } from '#shared/messages/statement'
import type { Question, Topic } from '#shared/messages/topic'
import { IdentityWebhook, PaymentsWebhook } from '#shared/messages/webhooks'

/** All stream messages. */
export const topics: readonly Topic[] = [
  PaymentsWebhook,
  IdentityWebhook,
  relay.CreditOrdered,
  relay.RepayOrdered,
  relay.RevokeOrdered,
  relay.ExtendOrdered,
  relay.FreezeOrdered,
  relay.VerifyOrdered,
  relay.DripOrdered,
  relay.TakeOrdered,
  relay.ReturnOrdered,
  relay.AutorepayOrdered,
  ...relay.relayKinds.flatMap((kind) => [relay.relaySettled(kind), relay.relayFailed(kind)]),
  payments.PaymentPaid,
  payments.PaymentSettled,
  payments.PaymentInReview,
  payouts.PayoutTaken,
  payouts.PayoutPaid,
  payouts.PayoutReturned,
  IdentityDecided,
  IdentityErased,
  CreditDue,
  CreditAutorepay,
]

/** Events that are announced to the integrator. Those of the relayer are orders' outcomes for the services. */
export const integratorTopics: readonly Topic[] = topics.filter(
  ({ stream, publishers }) => stream === 'EVENTS' && !publishers.includes('chain-relayer'),
)

export const questions: readonly Question[] = [
  pricing.PricingTerms,
  pricing.QuoteCreate,
  pricing.QuoteFind,
  pricing.QuoteTake,
  pricing.RateFind,
  payments.PaymentsTerms,
  payments.TopupCreate,
  payments.SettlementCreate,
  payments.CheckoutCancel,
  payments.PaymentsLimit,
  payments.PaymentsFreeze,
  payments.PaymentsActivity,
  payments.PaymentsItem,
  PaymentsStatement,
  PayoutsStatement,
  IndexerStatement,
  payments.ReviewResolve,
  payments.TopupRefund,
  payments.RefundGiveUp,
  payments.TopupsPause,
  payments.WalletClear,
  payments.WalletReclaim,
  payments.WalletFreeze,
  payments.LossGivenBack,
  payments.PaymentTakenBack,
  payments.DisputeCharge,
  payouts.PayoutsTerms,
  payouts.CashoutCreate,
  payouts.AccountCheck,
  payouts.PayoutsLimit,
  payouts.PayoutsActivity,
  payouts.PayoutsItem,
  payouts.PayoutsOwed,
  payouts.PayoutsPause,
  payouts.CashoutHold,
  payouts.CashoutCancel,
  payouts.CashoutGiveUp,
  payouts.AccountFind,
  payouts.AccountEnding,
  payouts.AccountRefuse,
  chain.ChainTerms,
  chain.ChainAccount,
  chain.ChainHold,
  chain.ChainRef,
  chain.ChainTreasury,
  chain.AuthorizationCheck,
  chain.SignatureCheck,
  chain.SendCreate,
  chain.ChainActivity,
  chain.ChainItem,
  chain.RelayingPause,
  chain.GivebackOrder,
  IndexerRecord,
  IndexerDebt,
  IndexerDue,
  ConsoleItem,
  ConsoleFind,
  ConsoleAttention,
  ConsoleWatch,
  HeartbeatsMissed,
  ...Object.values(deadLetterDecisions),
  ...Object.values(personReads),
  ...Object.values(personErasures),
  PersonRule,
  PersonWithdraw,
  FlagOrder,
  VerifiedName,
  EventResend,
]
