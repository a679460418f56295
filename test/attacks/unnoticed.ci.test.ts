import { identityRechecks, recordedVerdictsAreKept, verdictsAreNotMissed } from '../failures/verdicts.suite'
import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/settings'
import { rpcKey } from './fixture'

/** Settings without rechecks, so that a message that is not redriven stays unhandled. */
const never = { RECHECK_AFTER_MS: '3600000', LIST_EVERY_MS: '3600000' }

/** Settings with debug lines, because errors of a known outage are logged at debug. */
const verbose = { LOG_LEVEL: 'debug' }

const env = {
  gateway: identityRechecks,
  payments: { ...never, ...verbose, PROVIDER_LIST_LATEST_EVERY_MS: '3600000' },
  payouts: never,
  'chain-relayer': verbose,
  'indexer-reader': verbose,
  // A webhook that a busy machine did not record is sent again at once, not after minutes.
  sandbox: quickChecks.sandbox,
}
/** Path of the RPC endpoint with a key, as vendors put theirs into the URL. */
const rpcPath = `/v2/${rpcKey}?apikey=${rpcKey}`

onOneStack(() => ({ env, proxied: true, rpcPath }), {
  unnoticed: () => import('./unnoticed.suite'),
  'recorded verdicts': async () => recordedVerdictsAreKept(),
  'verdicts of sumsub': async () => verdictsAreNotMissed(),
})
