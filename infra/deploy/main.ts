import { runCommand, type Say } from '#shared/command'
import { Misconfigured, readConfig, secretsOf } from '#shared/config'
import { fields } from './config'
import { deploy } from './deploy'
import { textOf } from './node'
import { exitCodeOf, report } from './report'
import { wantedOf } from './wanted'

/** Runs one deployment and answers the exit code. */
async function main(args: readonly string[], say: Say): Promise<number> {
  const unknown = args.filter((one) => one !== '--dry-run')
  if (unknown.length > 0)
    throw new Misconfigured(`unknown argument ${unknown[0]}: --dry-run or none`)
  const config = readConfig('deploy', fields)
  const { wanted, signers } = wantedOf(config)
  const { rpcUrls, addressesFile, finalWithinMs } = config
  const job = { wanted, signers, rpcUrls, addressesFile, finalWithinMs }
  const deployment = await deploy({ ...job, dryRun: args.length > 0, say }).catch(
    (error: unknown) => {
      throw new Error(textOf(error)) // Without viem's wrapping: the node's own words.
    },
  )
  say(report(deployment, wanted))
  return exitCodeOf(deployment)
}

await runCommand(
  () => secretsOf(fields),
  (say) => main(process.argv.slice(2), say),
)
