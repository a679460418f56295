import { test } from 'bun:test'
import { passwordVariable } from '#infra/nats/server-environment'
import { broken, stolen } from '../attacks/fixture'
import { groupStack, onOneStack } from '../runner/group'
import { booksClose } from '../support/books'
import { quickChecks } from '../support/settings'

const env = {
  ...quickChecks,
  // The minimum fee of this chain is 2 gwei, so three reverts of a contract wallet exceed the budget.
  'chain-relayer': { WATCH_MS: '500', GAS_BUDGET_WEI: '1000000000000000' },
}
const own = Object.fromEntries(broken.map((name) => [passwordVariable(name), stolen(name)]))

onOneStack(() => ({ env, own }), {
  provider: () => import('./provider.suite'),
  restarts: () => import('./restarts.suite'),
  'late-take': () => import('./late-take.suite'),
  connections: () => import('../attacks/connections.suite'),
  fuzz: () => import('../fuzz/fuzz.suite'),
  // This suite is last because it commits the treasury to orders that the relayer refuses.
  gas: () => import('../attacks/gas.suite'),
})

test('after the failures the books balance', () => booksClose(groupStack()))
