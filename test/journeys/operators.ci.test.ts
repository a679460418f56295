import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/stack'

onOneStack(() => ({ env: quickChecks }), {
  questions: () => import('#infra/operations/cli/questions.suite'),
  operator: () => import('./operator.suite'),
  'planted-rows': () => import('#infra/operations/books/planted-rows.suite'),
  unexplained: () => import('../attacks/unexplained.suite'),
  // Last: it leaves a credit that belongs to no payment.
  'planted-credit': () => import('#infra/operations/books/planted-credit.suite'),
})
