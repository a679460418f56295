import { onOneStack } from '../runner/group'
import { holdSeconds, watchful } from './fixture'

onOneStack(() => ({ env: watchful, terms: { holdSeconds } }), {
  freezing: () => import('./freezing.suite'),
  silence: () => import('./silence.suite'),
  // This suite is last because it changes the value of a share.
  refunds: () => import('./refunds.suite'),
})
