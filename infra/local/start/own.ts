import { readFileSync } from 'node:fs'
import { localChainId } from '#infra/local/chain'
import { askNode } from '#infra/local/chain/node'
import { type Own, secretNames, wishes, wishesOf } from '#infra/local/environment'
import type { Processes } from '#infra/local/processes'
import { StartFault } from '#infra/local/start/faults'
import type { ProcessDeath } from '#infra/local/supervisor'
import { Hopeless } from '#infra/local/wait'
import type { Field } from '#platform/config'
import { databaseUrl, natsServers } from '#platform/config-fields'

export type OwnName = 'DATABASE_URL' | 'NATS_URL' | 'RPC_URL'

const nodeUrl = (raw: string): void => {
  if (!/^https?:\/\//.test(raw) || !URL.canParse(raw)) throw new Error('must be http://host:port')
}

const kinds: Record<OwnName, { kind: string; parse: Field<unknown>['parse'] }> = {
  DATABASE_URL: { kind: 'Postgres', parse: databaseUrl({ about: 'Postgres' }).parse },
  NATS_URL: { kind: 'nats-server', parse: natsServers({ about: 'NATS' }).parse },
  RPC_URL: { kind: 'node', parse: nodeUrl },
}

const unset = (names: readonly string[]) => `leave ${names.join(', ')} unset to use a local one`

/** Names every invalid URL; never shows a value. */
export function assertOwnUrls(own: Own): void {
  const faults = Object.entries(kinds).flatMap(([name, { parse }]) => {
    const raw = own[name]
    if (!raw) return []
    try {
      parse(raw, () => '*')
      return []
    } catch (error) {
      return [{ name, why: `${name} ${(error as Error).message}` }]
    }
  })
  if (faults.length === 0) return
  throw new StartFault(faults.map(({ why }) => why).join('; '), `Fix it, or ${unset(faults.map(({ name }) => name))}.`)
}

/**
 * Returns what a stack takes over from the user's environment, such as `DATABASE_URL (10.0.0.1:5432), LOG_LEVEL`;
 * empty if nothing. A variable may be there for another project. Never shows a secret.
 */
export function takenOver(own: Own): string {
  const urls = Object.keys(kinds).flatMap((name) => (own[name] ? [`${name} (${placeOf(own[name])})`] : []))
  const others = [
    'NATS_MONITOR_URL',
    'NATS_REPLICAS',
    ...wishes,
    ...Object.values(wishesOf).flat(),
    ...secretNames(),
  ].filter((name) => own[name])
  const names = others.map((name) => name.replace(/^NATS_PASSWORD_.*/, 'NATS_PASSWORD_*'))
  return [...new Set([...urls, ...names])].join(', ')
}

/** The user's server already runs. */
const answersWithinMs = 20_000

export async function untilOwnAnswers(
  processes: Pick<Processes, 'until'>,
  name: OwnName,
  url: string,
  ask: () => Promise<boolean>,
  deadlineMs = answersWithinMs,
): Promise<void> {
  let why = ''
  const asked = async () => {
    try {
      return await ask()
    } catch (error) {
      why = (error as Error).message
      throw error
    }
  }
  try {
    await processes.until(`${name} to respond`, asked, deadlineMs)
  } catch (error) {
    if (error instanceof Hopeless) throw error
    throw new StartFault(
      `no ${kinds[name].kind} responds at ${name} (${placeOf(url)})${why && `: ${why}`}`,
      `Start yours first, or ${unset([name])}.`,
    )
  }
}

/** Host and port of each server; user, password and path may be secret. */
export const placeOf = (url: string): string =>
  url
    .split(',')
    .map((one) => one.replace(/^\w+:\/\//, '').replace(/^.*@/, ''))
    .map((one) => one.replace(/[/?#].*$/, ''))
    .join(',')

/** Contracts are deployed to the user's node, so it must be an anvil with our chain id. */
export async function assertOwnChain(rpcUrl: string): Promise<void> {
  const chainId = Number(await askNode(rpcUrl, 'eth_chainId'))
  const instead = `Run \`anvil --chain-id ${localChainId}\`, or ${unset(['RPC_URL'])}.`
  if (chainId !== localChainId)
    throw new StartFault(`the chain at RPC_URL has id ${chainId}, but ${localChainId} is required`, instead)
  const version = await askNode(rpcUrl, 'web3_clientVersion')
  if (!/anvil/i.test(version))
    throw new StartFault(`the node at RPC_URL is not anvil (${version.slice(0, 60)})`, instead)
}

/** A service exits with 2 if it refuses its configuration, and would refuse it again. */
export const diedOfItsConfiguration = ({ how }: Pick<ProcessDeath, 'how'>): boolean => how === 'exit 2'

/** Returns the fault with the last lines of the service's log, which name the variables without their values. */
export function faultOfConfiguration({ name, logFile }: Pick<ProcessDeath, 'name' | 'logFile'>): StartFault {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n')
  const faults = lines.slice(lines.findLastIndex((line) => !line.startsWith(' ')) + 1)
  const why = faults.map((line) => line.trim()).join('; ')
  return new StartFault(`${name} refuses its configuration: ${why}`, 'Fix or unset the variable in your environment.')
}
