import { afterAll, test } from 'bun:test'
import { serviceNames } from '#shared/messages/topic'
import { publicConcurrencyMax } from '../attacks/fixture'
import { groupStack, onOneStack } from '../runner/group'
import { booksClose } from '../support/books'
import { quickChecks } from '../support/settings'
import { collector, world } from './external'

/** Settings of the gateway, in which requests from this machine may name their address. */
const gateway = {
  STREAMS_EVERY_MS: '500',
  PUBLIC_CONCURRENCY_MAX: String(publicConcurrencyMax),
  TRUSTED_PROXIES: '127.0.0.1,::1',
}
const pricing = {
  RATE_SOURCES: 'frankfurter,bnm,open-er-api',
  FRANKFURTER_URL: world.url,
  BNM_URL: world.url,
  OPEN_ER_API_URL: world.url,
  RATE_POLL_MS: '500',
  RATE_DEADLINE_MS: '1000',
  // A quote must outlast a flood on a busy machine.
  QUOTE_TTL_MS: '300000',
}
/**
 * Settings of payments. Half of 30 look-ups a minute are for open checkouts, so 600 checkouts weigh as ten thousand do
 * at a production limit.
 */
const payments = {
  RECHECK_AFTER_MS: '2500',
  RECHECK_EVERY_MS: '5000',
  PROVIDER_REQUESTS_PER_MINUTE: '30',
  LIST_EVERY_MS: '3600000',
  PROVIDER_LIST_LATEST_EVERY_MS: '5000',
  HOLD_MARGIN_MS: '40000',
}
const own: Record<string, Record<string, string>> = { ...quickChecks, gateway, pricing, payments }
const env = Object.fromEntries(
  [...serviceNames, 'sandbox'].map((name) => [
    name,
    { ...own[name], ...(name === 'sandbox' ? {} : { TRACES_URL: collector.url }) },
  ]),
)

onOneStack(() => ({ env }), {
  trace: () => import('./trace.suite'),
  rates: () => import('./rates.suite'),
  flood: () => import('../attacks/flood.suite'),
  service: () => import('../attacks/service.suite'),
})

test('after the attacks on the service the books balance', () => booksClose(groupStack()))

afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})
