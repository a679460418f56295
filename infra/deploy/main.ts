import { readWords, refuseWords, takenByNpm } from '#infra/local/words'
import { runCommand, type Say } from '#platform/command'
import { readConfig, secretsOf } from '#platform/config'
import { fields } from './config'
import { deploy } from './deploy'
import { textOf } from './node'
import { exitCodeOf, report } from './report'
import { wantedOf } from './wanted'

const usage = `usage: bun run deploy [--dry-run]
  --dry-run  prints state, planned steps and manual tasks; sends and writes nothing
Its environment is described in infra/deploy/README.md.`

async function main(dryRun: boolean, say: Say): Promise<number> {
  const config = readConfig('deploy', fields)
  const { wanted, signers } = wantedOf(config)
  const { rpcUrls, addressesFile, finalWithinMs } = config
  const job = { wanted, signers, rpcUrls, addressesFile, finalWithinMs }
  const deployment = await deploy({ ...job, dryRun, say }).catch((error: unknown) => {
    throw new Error(textOf(error))
  })
  say(report(deployment, wanted))
  return exitCodeOf(deployment)
}

const { values } = readWords(usage, { options: { 'dry-run': { type: 'boolean', default: false } } })
const taken = takenByNpm(['dry-run'], process.env)
if (taken) refuseWords(taken, usage)
await runCommand(
  () => secretsOf(fields),
  (say) => main(values['dry-run'], say),
)
