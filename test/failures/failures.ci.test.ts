import { passwordVariable } from '#infra/nats/server-environment'
import { broken, stolen } from '../attacks/fixture'
import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/stack'

const env = {
  ...quickChecks,
  // 2 gwei is this chain's minimum; three reverts of a contract wallet exceed the budget.
  'chain-relayer': { WATCH_MS: '500', GAS_BUDGET_WEI: '1000000000000000' },
}
const own = Object.fromEntries(broken.map((name) => [passwordVariable(name), stolen(name)]))

onOneStack(() => ({ env, own }), {
  provider: () => import('./provider.suite'),
  restarts: () => import('./restarts.suite'),
  'late-take': () => import('./late-take.suite'),
  connections: () => import('../attacks/connections.suite'),
  fuzz: () => import('../fuzz/fuzz.suite'),
  // Last: it commits the treasury to orders that the relayer refuses.
  gas: () => import('../attacks/gas.suite'),
})
