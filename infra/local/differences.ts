import { deployedValue, proposedFor } from '#infra/configuration/deployed'
import { processes } from '#infra/configuration/processes'

/** Setting of the local stack that differs from a deployment on the test chain. */
export type Difference = {
  readonly setting: string
  readonly here: string
  /** Value of a deployment in words, if its configuration gives none. */
  readonly deployed?: string
  readonly reason: string
}

/** All differences. A stack takes its values from here, and `start` prints them. */
export const differences: readonly Difference[] = [
  {
    setting: 'RATE_SOURCES',
    here: 'fixed',
    reason: 'works offline, and pays out at weekends, when the markets are closed',
  },
  {
    setting: 'MIN_CYCLE_SECONDS',
    here: '2',
    reason: 'a debt of seconds counts in the public record',
  },
  {
    setting: 'TREASURY_AUSD_MICRO',
    here: '10000000000000',
    reason: 'top-ups never run out of AUSD',
  },
  {
    setting: 'LIQUIDITY_AUSD_MICRO',
    here: '1000000000000',
    reason: 'the lending pool does not run out either',
  },
  {
    setting: 'DEPLOY_TEST_FUNDS',
    here: 'yes',
    reason: 'there is no faucet: AUSD and native coin are minted',
  },
  {
    setting: 'RPC_URLS',
    here: 'one',
    deployed: 'at least two',
    reason: 'the chain is one node on this machine',
  },
  {
    setting: 'CORS_ORIGINS',
    here: 'the sandbox, :5173',
    deployed: "the app's",
    reason: 'the reference app and an app under development may call the gateway',
  },
  {
    setting: 'SANDBOX_CONTROLS_URL',
    here: "this stack's",
    deployed: 'none',
    reason: 'the console can act as user, bank, provider and chain',
  },
  {
    setting: 'RATE_LIMIT_PUBLIC_PER_MINUTE',
    here: '6000',
    reason: 'all callers on this machine have one address',
  },
  {
    setting: 'RATE_LIMIT_SIGNED_PER_MINUTE',
    here: '6000',
    reason: 'a script may use one wallet for everything',
  },
  {
    setting: 'TOPUP_DAY_COUNT_MAX',
    here: '1000',
    reason: 'such a script pays often',
  },
  {
    setting: 'CASHOUT_REFUSED_DAY_MAX',
    here: '1000',
    reason: 'the account numbers that the sandbox refuses can be tried with one wallet',
  },
  {
    setting: 'CASHOUT_REFUSED_TO_ACCOUNT_DAY_MAX',
    here: '1000',
    reason: 'the sandbox refuses one account number, which all users share',
  },
  {
    setting: 'PROVIDER_REQUESTS_PER_MINUTE',
    here: '60000',
    reason: 'the sandbox does not limit calls',
  },
  {
    setting: 'RPC_REQUESTS_PER_SECOND',
    here: '100000',
    reason: 'the chain on this machine does not limit calls',
  },
  {
    setting: 'RPC_ETH_CALLS_PER_SECOND',
    here: '100000',
    reason: 'it does not limit these either',
  },
  {
    setting: 'DRAIN_MS',
    here: '0',
    reason: 'no load balancer has to notice that the gateway stops',
  },
]

const processNames = Object.keys(processes)

/** Returns the value of a deployment, or all of them if its processes have several. */
export const deployedInstead = ({ setting, deployed }: Difference): string => {
  const values = processNames.flatMap((name) => deployedValue(name, setting) ?? [])
  return deployed ?? ([...new Set(values)].join(' or ') || 'its own')
}

/** Returns the settings of a process that are a deployment's but not its defaults, and those of the table. */
export const settingsHere = (process: string): Record<string, string> => ({
  ...proposedFor(process),
  ...Object.fromEntries(
    differences
      .filter(({ setting, deployed }) => deployed === undefined && deployedValue(process, setting) !== undefined)
      .map(({ setting, here }) => [setting, here]),
  ),
})

/** Returns the value of a term of the contracts here. Throws if there is no such setting. */
export function termHere(setting: string): string {
  const value = settingsHere('deploy')[setting] ?? deployedValue('deploy', setting)
  if (value === undefined) throw new Error(`${setting} is not a term`)
  return value
}

/** Returns the table as lines. */
export function differenceLines(): string[] {
  const rows = [
    ['', 'here', 'in a deployment', 'because'],
    ...differences.map((one) => [one.setting, one.here, deployedInstead(one), one.reason]),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
