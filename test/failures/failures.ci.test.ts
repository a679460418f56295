import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/stack'

onOneStack(() => ({ env: { ...quickChecks, 'chain-relayer': { WATCH_MS: '500' } } }), {
  provider: () => import('./provider.suite'),
  restarts: () => import('./restarts.suite'),
  'late-take': () => import('./late-take.suite'),
  connections: () => import('../attacks/connections.suite'),
  fuzz: () => import('../fuzz/fuzz.suite'),
})
