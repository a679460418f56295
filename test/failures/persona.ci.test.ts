import { onOneStack } from '../runner/group'
import { quickChecks } from '../support/stack'
import { identityRechecks } from './verdicts.suite'

const persona = { IDENTITY_PROVIDER: 'persona', IDENTITY_LEVEL: 'itmpl_local' }
const env = { ...quickChecks, gateway: { ...identityRechecks, ...persona }, sandbox: persona }

onOneStack(() => ({ env }), {
  'verdicts of persona': async () => (await import('./verdicts.suite')).verdictsAreNotMissed(),
})
