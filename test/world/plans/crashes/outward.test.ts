import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { serviceNames } from '#shared/messages/topic'
import { boundariesOf } from '../../../failures/failpoints'
import { meanings, ofNoMoney } from './boundaries'
import { paths } from './paths'
import { unpassed } from './report'

/**
 * Calls that change something outside a service and its rows, with the boundaries before and after, at which processes
 * are killed.
 */
const outward: readonly (readonly [file: string, call: string, before: string, after: string])[] = [
  ['services/payments/checkout/provider-checkout.ts', 'provider.openCheckout(', 'quote-taken', 'checkout-opened'],
  ['services/payments/checkout/provider-checkout.ts', 'provider.cancelCheckout(', 'checkout-opened', 'checkout-ended'],
  ['services/payments/checkout/open.ts', 'askOr(context, QuoteTake', 'row-stored', 'quote-taken'],
  ['services/payments/checkout/end.ts', 'provider.cancelCheckout(', 'quote-taken', 'checkout-ended'],
  ['services/payments/review/refund.ts', 'provider.createRefund(', 'before-refund', 'refund-answered'],
  ['services/payouts/request/open.ts', 'askOr(ask, QuoteTake', 'row-stored', 'quote-taken'],
  ['services/payouts/paying/pay.ts', 'provider.create(', 'before-provider', 'provider-answered'],
  ['services/chain-relayer/transactions/broadcast.ts', 'node.sendRaw(', 'transaction-stored', 'broadcast'],
  ['services/gateway/routes/webhooks.ts', '= publish({', 'delivery-verified', 'delivery-recorded'],
  ['services/gateway/http/order.ts', 'ask(question, order', 'order-read', 'order-answered'],
  ['shared/platform/bus/outbox-relay.ts', 'await publish(bus,', 'took', 'published'],
]

const acts =
  /provider\.(?:openCheckout|cancelCheckout|createRefund|create)\(|node\.sendRaw\(|askOr\((?:context|ask), QuoteTake|(?:await |= )publish\((?:bus,|\{)|ask\(question, order/g

const sources = ['services/**/*.ts', 'shared/platform/bus/*.ts']
  .flatMap((glob) => [...new Glob(glob).scanSync(repositoryDir)])
  .filter((path) => !/\.test\.ts$|test-support/.test(path))

test('every call with an external effect has boundaries', () => {
  const found = sources.flatMap((path) =>
    [...readFileSync(join(repositoryDir, path), 'utf8').matchAll(acts)].map(([call]) => `${path}: ${call}`),
  )
  expect(found.sort()).toEqual(outward.map(([path, call]) => `${path}: ${call}`).sort())
})

const all = [...new Set(paths.flatMap(({ boundaries }) => boundaries))]

test.each(outward)('%s, %s: is between %s and %s, which some path passes', (_, __, before, after) => {
  const isPassed = (name: string) => all.some((boundary) => boundary.split(':')[1] === name)
  expect([before, after].filter((name) => !isPassed(name))).toEqual([])
})

test('every boundary named in the code is explained, and is on a path', () => {
  const named = serviceNames.flatMap(boundariesOf)
  expect(named.filter((name) => !(name in meanings))).toEqual([])
  expect(Object.keys(meanings).filter((name) => !named.includes(name))).toEqual([])
  expect(unpassed(paths)).toEqual([])
  expect(all.filter((name) => ofNoMoney.has(name))).toEqual([])
})
