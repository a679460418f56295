import { test } from 'bun:test'
import { groupStack, onOneStack } from '../runner/group'
import { booksClose } from '../support/books'
import { watchful } from './fixture'
import { market } from './market'

const pricing = {
  RATE_SOURCES: 'frankfurter',
  FRANKFURTER_URL: market.url,
  RATE_POLL_MS: '200',
  RATE_JUMP_MAX_BPS: '10000',
  // Twelve top-ups use their quotes at once, which takes a while on a busy machine.
  QUOTE_TTL_MS: '300000',
}
/** Terms of the stack. A test of `holds` empties the lending pool. Refunds within the hold come before its end. */
const terms = { holdSeconds: 30, liquidityMicro: 400_000_000n }

onOneStack(() => ({ env: { ...watchful, pricing }, terms }), {
  holds: () => import('./holds.suite'),
  settlements: () => import('./settlements.suite'),
  rates: () => import('./rates.suite'),
})

test('after the attacks on debts the books balance', () => booksClose(groupStack()))
