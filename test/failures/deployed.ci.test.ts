import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/settings'
import { identityRechecks } from './verdicts.suite'

const persona = { IDENTITY_PROVIDER: 'persona', IDENTITY_LEVEL: 'itmpl_local' }
/** Settings of the gateway, in which each connection of the slow readers has its own address. */
const gateway = {
  ...identityRechecks,
  ...persona,
  IDENTITY_RECHECKS_PER_MINUTE: '1200',
  TRUSTED_PROXIES: '127.0.0.1',
}

onOneStack(() => ({ limits: 'deployed', env: { ...quickChecks, gateway, sandbox: persona } }), {
  'verdicts of persona': async () => (await import('./verdicts.suite')).verdictsAreNotMissed(),
  'one-address': () => import('../journeys/one-address.suite'),
  // This suite is last because it uses up the limits of this machine's address.
  'slow-readers': () => import('../attacks/slow-readers.suite'),
})
