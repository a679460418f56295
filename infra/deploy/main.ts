import { Misconfigured, readConfig } from '#shared/config'
import { fields } from './config'
import { deploy } from './deploy'
import { textOf } from './node'
import { exitCodeOf, report } from './report'
import { wantedOf } from './wanted'

/** Runs one deployment and answers the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const unknown = args.filter((one) => one !== '--dry-run')
  if (unknown.length > 0)
    throw new Misconfigured(`unknown argument ${unknown[0]}: --dry-run or none`)
  const config = readConfig('deploy', fields)
  const { wanted, signers } = wantedOf(config)
  const { rpcUrls, addressesFile, finalWithinMs } = config
  const job = { wanted, signers, rpcUrls, addressesFile, finalWithinMs }
  const deployment = await deploy({ ...job, dryRun: args.length > 0, say: console.log }).catch(
    (error: unknown) => {
      // The path of an endpoint may be a key, and a provider's answer may repeat it.
      throw new Error(
        rpcUrls.reduce((text, url) => text.replaceAll(url, 'RPC_URLS'), textOf(error)),
      )
    },
  )
  console.log(report(deployment, wanted))
  return exitCodeOf(deployment)
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(textOf(error))
  return error instanceof Misconfigured ? 2 : 1
})
