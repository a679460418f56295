import { expect, test } from 'bun:test'
import { consumers } from '#infra/nats/topology'
import { covers, type Reaction } from '#platform/bus/reaction'
import { orderReactions as ofRelayer } from '../../services/chain-relayer/operations/order'
import { orderReactions } from '../../services/gateway/identity/orders'
import { verdictReaction } from '../../services/gateway/identity/verdict'
import { autoRepayReactions } from '../../services/gateway/reminders/auto-repay'
import { webhookReactions as ofPaymentWebhooks } from '../../services/payments/incoming/webhook'
import { relayReactions as ofPayments } from '../../services/payments/onchain/relay'
import { webhookReactions as ofPayoutWebhooks } from '../../services/payouts/incoming/webhook'
import { relayReactions as ofPayouts } from '../../services/payouts/onchain/relay'

/** A reaction reads its context only when a message arrives. */
const unread = {} as never
const reactions: Readonly<Record<string, readonly Reaction[]>> = {
  gateway: [verdictReaction(unread), ...orderReactions(unread), ...autoRepayReactions(unread)],
  payments: [...ofPaymentWebhooks(unread), ...ofPayments(unread)],
  payouts: [...ofPayoutWebhooks(unread), ...ofPayouts(unread)],
  'chain-relayer': ofRelayer,
}

const names = new Set<string>(Object.values(consumers).flatMap((plans) => plans.map(({ durable_name: name }) => name)))

test('every consumer but that of the integrator belongs to a service that reacts to messages', () => {
  expect([...names].filter((name) => name !== 'integrator').sort()).toEqual(Object.keys(reactions).sort())
})

test.each(Object.entries(reactions))('%s gets exactly the messages that it reacts to', (name, own) => {
  for (const [stream, plans] of Object.entries(consumers)) {
    const topics = own.filter(({ topic }) => topic.stream === stream).map(({ topic }) => topic)
    const filters = plans.find((plan) => plan.durable_name === name)?.filter_subjects ?? []
    const unread = filters.filter((filter) => !topics.some((topic) => covers(topic, filter)))
    const unheard = topics.filter((topic) => !filters.some((filter) => covers(topic, filter)))
    expect({ stream, unread, unheard }).toEqual({ stream, unread: [], unheard: [] })
  }
})
