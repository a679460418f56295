import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/settings'
import { recordTerms as terms } from '../support/verify'

const env = {
  ...quickChecks,
  'chain-relayer': { REBROADCAST_AFTER_MS: '600', BUMP_AFTER_MS: '900' },
  'indexer-reader': { LAG_MAX_MS: '4000' },
}

onOneStack(() => ({ proxied: true, env, terms }), {
  'rpc-relayer': () => import('./rpc-relayer.suite'),
  'rpc-reader': () => import('./rpc-reader.suite'),
  // This suite is last because it moves the chain's clock by days.
  record: () => import('../journeys/record.suite'),
})
