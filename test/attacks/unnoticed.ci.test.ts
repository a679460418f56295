import { identityRechecks } from '../failures/verdicts.suite'
import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/stack'
import { rpcKey } from './fixture'

/** A message that is not redriven stays unhandled. */
const never = { RECHECK_AFTER_MS: '3600000', LIST_EVERY_MS: '3600000' }

/** A known outage logs errors at debug. */
const verbose = { LOG_LEVEL: 'debug' }

const env = {
  gateway: identityRechecks,
  payments: { ...never, ...verbose, PROVIDER_LIST_LATEST_EVERY_MS: '3600000' },
  payouts: never,
  'chain-relayer': verbose,
  'indexer-reader': verbose,
  // A webhook that a busy machine did not record is resent at once, not after minutes.
  sandbox: quickChecks.sandbox,
}
/** Vendors put their key into the URL. */
const rpcPath = `/v2/${rpcKey}?apikey=${rpcKey}`

onOneStack(() => ({ env, proxied: true, rpcPath }), {
  unnoticed: () => import('./unnoticed.suite'),
  'verdicts of sumsub': async () => (await import('../failures/verdicts.suite')).verdictsAreNotMissed(),
})
