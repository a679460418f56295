import { onOneStack } from '../runner/group'
import { holdSeconds, watchful } from './fixture'

onOneStack(() => ({ env: watchful, terms: { holdSeconds } }), {
  freezing: () => import('./freezing.suite'),
  refunds: () => import('./refunds.suite'),
  silence: () => import('./silence.suite'),
})
