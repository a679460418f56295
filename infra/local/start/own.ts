import { localChainId } from '#infra/local/chain'
import { askNode } from '#infra/local/chain/node'
import type { Processes } from '#infra/local/processes'
import { StartFault } from '#infra/local/start/faults'
import { Hopeless } from '#infra/local/wait'
import { databaseUrl, natsServers } from '#shared/config-fields'

/** What a user may bring instead of what we would start. */
export type OwnName = 'DATABASE_URL' | 'NATS_URL' | 'RPC_URL'
type Own = Readonly<Record<string, string | undefined>>

const nodeUrl = (raw: string): void => {
  if (!/^https?:\/\//.test(raw) || !URL.canParse(raw)) throw new Error('must be http://host:port')
}

/** What answers at each, and what throws when its URL cannot be one. */
const kinds: Record<OwnName, { kind: string; parse: (raw: string) => unknown }> = {
  DATABASE_URL: { kind: 'Postgres', parse: databaseUrl({ about: 'Postgres' }).parse },
  NATS_URL: { kind: 'nats-server', parse: natsServers({ about: 'NATS' }).parse },
  RPC_URL: { kind: 'node', parse: nodeUrl },
}

const unset = (names: readonly string[]) =>
  `leave ${names.join(', ')} unset, and what it stands for is started here`

/** Throws one `StartFault` that names every URL of the user's that cannot be one; never shows a value. */
export function assertOwnUrls(own: Own): void {
  const faults = Object.entries(kinds).flatMap(([name, { parse }]) => {
    const raw = own[name]
    if (!raw) return []
    try {
      parse(raw)
      return []
    } catch (error) {
      return [{ name, why: `${name} ${(error as Error).message}` }]
    }
  })
  if (faults.length === 0) return
  throw new StartFault(
    faults.map(({ why }) => why).join('; '),
    `Correct it, or ${unset(faults.map(({ name }) => name))}.`,
  )
}

/** What is the user's own runs already: it needs no time to start, only to be reached. */
const answersWithinMs = 20_000

/** Waits a moment for what the user brought, then throws a `StartFault` that says where nothing answers. */
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
    await processes.until(`${name} answering`, asked, deadlineMs)
  } catch (error) {
    if (error instanceof Hopeless) throw error
    throw new StartFault(
      `no ${kinds[name].kind} answers at ${name} (${placeOf(url)})${why && `: ${why}`}`,
      `Start yours first, or ${unset([name])}.`,
    )
  }
}

/** Host and port of each server of a URL: user, password and path may be secret. */
export const placeOf = (url: string): string =>
  url
    .split(',')
    .map((one) => one.replace(/^\w+:\/\//, '').replace(/^.*@/, ''))
    .map((one) => one.replace(/[/?#].*$/, ''))
    .join(',')

/** Throws `StartFault` unless the user's node is an anvil with the id we need: contracts are deployed to it. */
export async function assertOwnChain(rpcUrl: string): Promise<void> {
  const chainId = Number(await askNode(rpcUrl, 'eth_chainId'))
  const instead = `Start it as anvil --chain-id ${localChainId}, or ${unset(['RPC_URL'])}.`
  if (chainId !== localChainId)
    throw new StartFault(`this chain has id ${chainId}, ${localChainId} is needed`, instead)
  const version = await askNode(rpcUrl, 'web3_clientVersion')
  if (!/anvil/i.test(version))
    throw new StartFault(`the node at RPC_URL is no anvil (${version.slice(0, 60)})`, instead)
}
