import { runCommand, type Say } from '#platform/command'
import { Misconfigured, readConfig, secretsOf } from '#platform/config'
import { fields } from './config'
import { deploy } from './deploy'
import { textOf } from './node'
import { exitCodeOf, report } from './report'
import { wantedOf } from './wanted'

async function main(args: readonly string[], say: Say): Promise<number> {
  const unknown = args.filter((one) => one !== '--dry-run')
  if (unknown.length > 0) throw new Misconfigured(`unknown argument ${unknown[0]}: the only option is --dry-run`)
  const config = readConfig('deploy', fields)
  const { wanted, signers } = wantedOf(config)
  const { rpcUrls, addressesFile, finalWithinMs } = config
  const job = { wanted, signers, rpcUrls, addressesFile, finalWithinMs }
  const deployment = await deploy({ ...job, dryRun: args.length > 0, say }).catch((error: unknown) => {
    throw new Error(textOf(error))
  })
  say(report(deployment, wanted))
  return exitCodeOf(deployment)
}

await runCommand(
  () => secretsOf(fields),
  (say) => main(process.argv.slice(2), say),
)
