import type { Ask } from '#platform/bus/ask'
import { failpoint } from '#platform/failpoint'
import type { SendCreate } from '#shared/messages/chain'
import { PaymentsFreeze, type TopupCreate } from '#shared/messages/payments'
import type { CashoutCreate } from '#shared/messages/payouts'
import type { Question, ReadAnswerOf, RequestOf } from '#shared/messages/topic'
import { type Answer, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { acceptingDeadlineMs } from './deadline'

/** Sends an order, and waits until its owner accepts or refuses it. Without an answer, it may have been accepted too. */
export async function placeOrder<Q extends Question>(
  { ask, news }: Pick<Context, 'ask' | 'news'>,
  question: Q,
  order: RequestOf<Q> & { readonly wallet: string },
): Promise<ReadAnswerOf<Q>> {
  failpoint('gateway:order-read')
  try {
    const answer = await ask(question, order, acceptingDeadlineMs)
    failpoint('gateway:order-answered')
    return answer
  } finally {
    news.tell(order.wallet)
  }
}

type UnderTerms = typeof TopupCreate | typeof CashoutCreate | typeof SendCreate

/**
 * Sends an order that needs accepted terms. The owner decides, because it answers a repeat of an order that it has, whatever
 * the terms say now. Verbs that repay a debt do not ask: it must always be payable.
 */
export async function placeUnderTerms<Q extends UnderTerms>(
  context: Pick<Context, 'ask' | 'news' | 'terms'>,
  question: Q,
  order: RequestOf<Q> & { readonly wallet: string },
): Promise<ReadAnswerOf<Q>> {
  const { terms } = context
  const isAccepted = await terms.isAccepted(order.wallet as `0x${string}`)
  const answer = await placeOrder(context, question, isAccepted ? order : { ...order, termsMissing: true })
  if (!isAccepted && 'refused' in answer && answer.refused === 'terms_not_accepted') throw terms.refusal()
  return answer
}

const patienceMs = 1_500

/**
 * Adds the reason to the refusal of a frozen wallet. The relayer knows only that the chain has it frozen; payments knows
 * whether the wallet owes, or a refund or dispute is open.
 */
export async function withReason<T>(ask: Ask, wallet: `0x${string}`, answer: Answer<T>): Promise<Answer<T>> {
  if (!('refused' in answer) || answer.refused !== 'wallet_frozen') return answer
  const freeze = await ask(PaymentsFreeze, { wallet }, patienceMs)
  if ('refused' in freeze) return freeze
  return freeze.ok.isOwing ? answer : refuse('wallet_in_doubt')
}
