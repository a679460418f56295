import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/settings'

/** Terms with a hold of days, which only the sandbox's clock ends. */
const terms = { minCycleSeconds: 0, holdSeconds: 2 * 86_400 }

const env = {
  ...quickChecks,
  gateway: { REMINDERS_EVERY_MS: '1000' },
  operations: { BOOKS_EVERY_MS: '3600000' }, // The suites reconcile on their own.
}

onOneStack(() => ({ env, terms, operations: true }), {
  questions: () => import('#infra/operations/cli/questions.suite'),
  report: () => import('#infra/operations/cli/report.suite'),
  operator: () => import('./operator.suite'),
  'planted-rows': () => import('#infra/operations/books/planted-rows.suite'),
  unexplained: () => import('../attacks/unexplained.suite'),
  // These suites leave the chain's clock months ahead.
  clock: () => import('./clock.suite'),
  'auto-repay': () => import('./auto-repay.suite'),
  'waiting-money': () => import('../attacks/waiting-money.suite'),
  'second-wallet': () => import('../attacks/second-wallet.suite'),
  // This suite is last because it uses a lane's nonce and leaves a credit without a payment.
  'planted-credit': () => import('#infra/operations/books/planted-credit.suite'),
})
