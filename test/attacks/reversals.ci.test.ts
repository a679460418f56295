import { test } from 'bun:test'
import { groupStack, onOneStack } from '../runner/group'
import { booksClose } from '../support/books'
import { holdSeconds, watchful } from './fixture'

onOneStack(() => ({ env: watchful, terms: { holdSeconds } }), {
  freezing: () => import('./freezing.suite'),
  silence: () => import('./silence.suite'),
  // This suite is last because it changes the value of a share.
  refunds: () => import('./refunds.suite'),
})

test('after the reversals the books balance', () => booksClose(groupStack()))
