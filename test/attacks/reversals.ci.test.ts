import { onOneStack } from '../runner/group'
import { holdSeconds, watchful } from './fixture'

onOneStack(() => ({ env: watchful, terms: { holdSeconds } }), {
  freezing: () => import('./freezing.suite'),
  silence: () => import('./silence.suite'),
  // Last: it changes what a share is worth.
  refunds: () => import('./refunds.suite'),
})
