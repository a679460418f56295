import { parseArgs } from 'node:util'
import { type Address, getAddress } from 'viem'
import { runningStack } from '#infra/local/stack-file'
import { faultOf, helpIfAsked } from '#infra/local/words'
import { finalizedBlock, type LogNode, readAtAny } from '#infra/operations/record/chain-log'
import { type ChainRecord, type RecordPlace, recordFromChain } from '#infra/operations/record/chain-record'
import { differencesIn, lasting, type Repeats, repeats } from '#infra/operations/record/difference'
import { runCommand } from '#platform/command'
import { Misconfigured } from '#platform/config'

const usage = `bun run verify-record <wallet> --rpc <url>

Rebuilds the public record of a wallet from the finalized chain, without anything of the service.

  --rpc <url>              JSON-RPC endpoint; default: that of the local stack
  --credit-line <address>  the contract; default: that of the local stack
  --from-block <number>    block of its deployment; default: searched for
  --compare <url>          base URL of a gateway, whose /verify is compared too

Exits with 0 if no event is missing and everything agrees, 1 if not, 2 for wrong usage, and 3 if the
record could not be checked.`

const deadlineMs = 5_000
/** Blocks of the first range, which is halved as long as the endpoint refuses it. */
const rangeMax = 10_000n

type RecordCheck = {
  readonly wallet: Address
  readonly rpcUrl: string
  readonly creditLine: Address
  readonly fromBlock: bigint | undefined
  readonly gateway: string | undefined
}

export const checkRecord = (
  place: RecordPlace & { gateway: string },
  wallet: Address,
  repeats?: Repeats,
): Promise<string[]> =>
  lasting(async () => {
    const served = await servedRecord(place.gateway, wallet)
    const truth = await recordFromChain(place, wallet)
    return [...differencesInside(truth), ...differencesServed(truth, served)]
  }, repeats)

const differencesInside = ({ missing, fromContract, fromEvents }: ChainRecord): string[] => [
  ...missing,
  ...differencesIn(fromContract, fromEvents, 'the contract', 'the events'),
]

const differencesServed = (truth: ChainRecord, served: Record<string, unknown>): string[] =>
  differencesIn({ ...truth.record, indexer: 'ok' }, served, 'the chain', '/verify')

async function servedRecord(gateway: string, wallet: Address): Promise<Record<string, unknown>> {
  const answer = await fetch(`${gateway}/verify/${wallet}`, {
    signal: AbortSignal.timeout(deadlineMs),
  })
  if (!answer.ok) throw new Error(`/verify returned ${answer.status}`)
  return (await answer.json()) as Record<string, unknown>
}

function readOrder(words: readonly string[], env: NodeJS.ProcessEnv): RecordCheck {
  const { values, positionals } = parsed(words)
  const [wallet, ...others] = positionals
  if (wallet === undefined || others.length > 0) throw new Misconfigured(usage)
  if (!isAddress(wallet)) throw new Misconfigured(`${wallet} is not an address\n\n${usage}`)
  const chain = localChain(env)
  const rpcUrl = values.rpc ?? chain?.rpcUrl
  const creditLine = values['credit-line'] ?? chain?.creditLine
  if (!isHttp(rpcUrl)) throw new Misconfigured(`--rpc must be an http or https URL\n\n${usage}`)
  if (!isAddress(creditLine)) throw new Misconfigured(`--credit-line must be an address\n\n${usage}`)
  const from = values['from-block']
  if (from !== undefined && !/^\d+$/.test(from)) throw new Misconfigured(`--from-block must be a number\n\n${usage}`)
  const gateway = values.compare?.replace(/\/+$/, '')
  if (gateway !== undefined && !isHttp(gateway))
    throw new Misconfigured(`--compare must be an http or https URL\n\n${usage}`)
  return {
    wallet: getAddress(wallet),
    rpcUrl,
    creditLine,
    gateway,
    fromBlock: from === undefined ? undefined : BigInt(from),
  }
}

const isAddress = (text: string | undefined): text is Address => /^0x[0-9a-fA-F]{40}$/.test(text ?? '')

const isHttp = (text: string | undefined): text is string =>
  text !== undefined && /^https?:$/.test(URL.parse(text)?.protocol ?? '')

function parsed(words: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { rpc: text, 'credit-line': text, 'from-block': text, compare: text },
    })
  } catch (cause) {
    throw new Misconfigured(`${faultOf(cause as Error)}\n\n${usage}`)
  }
}

function localChain(env: NodeJS.ProcessEnv) {
  try {
    return runningStack(env).chain
  } catch {
    return undefined
  }
}

/**
 * Finds the block of the deployment. Returns 0 if the endpoint does not keep old state, as full nodes of Monad do not.
 * Throws if there is no contract.
 */
async function findDeployBlock(node: LogNode, creditLine: Address): Promise<bigint> {
  const hasCode = async (blockNumber: bigint) =>
    (await node.getCode({ address: creditLine, blockNumber })) !== undefined
  let to = await finalizedBlock(node)
  if (!(await hasCode(to))) throw new Error(`there is no contract at ${creditLine}`)
  let from = 0n
  while (from < to) {
    const middle = (from + to) / 2n
    const there = await hasCode(middle).catch(() => undefined)
    if (there === undefined) return 0n
    if (there) to = middle
    else from = middle + 1n
  }
  return from
}

async function verifyRecord(order: RecordCheck, say: (text: string) => void): Promise<number> {
  const { wallet, rpcUrl, creditLine, gateway } = order
  const rpcUrls = [rpcUrl]
  const deployBlock = order.fromBlock ?? (await readAtAny(rpcUrls, (node) => findDeployBlock(node, creditLine)))
  const place = { rpcUrls, creditLine, deployBlock, logsRangeMax: rangeMax }
  let truth: ChainRecord | undefined
  // The gateway serves the record of another block, so only its differences may disappear.
  const found = await lasting(
    async () => {
      const served = gateway && (await servedRecord(gateway, wallet))
      truth = await recordFromChain(place, wallet)
      const inside = differencesInside(truth)
      return served ? [...inside, ...differencesServed(truth, served)] : inside
    },
    gateway ? repeats : { checksMax: 1, betweenMs: 0 },
  )
  const { record, fromContract, sequence, blockNumber } = truth!
  say(JSON.stringify(record, null, 2))
  say(
    `\nat finalized block ${blockNumber}, read from block ${deployBlock}: ` +
      `${fromContract.events} events of the wallet among ${sequence} of the contract`,
  )
  say(`compared: ${Object.keys(fromContract).join(', ')}${gateway ? `; ${gateway}/verify` : ''}`)
  say(found.length === 0 ? 'the record is complete and equal' : found.join('\n'))
  if (truth!.missing.length > 0)
    say('The contract counts its events, so this endpoint has not returned all of them. Another one may have them.')
  return found.length === 0 ? 0 : 1
}

if (import.meta.main) {
  const words = process.argv.slice(2)
  helpIfAsked(words, usage)
  // The URL of an endpoint may contain a key.
  const secrets = () => words.map((word) => word.replace(/^--rpc=/, '')).filter((word) => URL.canParse(word))
  await runCommand(secrets, async (say) => {
    const order = readOrder(words, process.env)
    try {
      return await verifyRecord(order, say)
    } catch (error) {
      say(`the record could not be checked: ${(error as Error).message}`)
      return 3
    }
  })
  process.exit()
}
