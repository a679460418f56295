import { mkdirSync } from 'node:fs'
import { anvilBinary, anvilFlags } from '#infra/local/chain/anvil'
import {
  type ChainFiles,
  DamagedChain,
  type KeptBlock,
  type KeptTransaction,
  openChainFiles,
} from '#infra/local/chain/files'
import { shortenedSnapshot } from '#infra/local/chain/snapshot'
import { tied } from '#infra/local/child'
import { freePort } from '#infra/local/ports'
import { type RpcAsk, refuseTo } from '#infra/sandbox/rpc-proxy/rpc'
import { runCommand, type Say } from '#platform/command'
import { pause } from '#platform/deadline'
import { endWithParent } from '#platform/parent'
import { leastBaseFeeWei } from '#shared/chain/gas'

/** Monad's block interval. */
const quickMs = 300
/**
 * anvil keeps every block in memory and slows down as they accumulate (1.7.1: 9 ms a block after 2,000, 33 ms
 * after 20,000). A day at 0.3 s is 288,000 blocks, an idle day 28,800.
 */
const restMs = 3_000
/** Covers finality after the last transaction, and the reactions to it. */
const quickForMs = 15_000

/** Executing so many blocks takes one or two seconds. */
const journalBlocksMax = 200
/** Saving the state takes at most a twentieth of the time, however large it is. */
const restPerSnapshot = 20

/** A snapshot has no state of earlier blocks, and readers ask for that of the final one. */
const blocksToFinality = 3

const isSend = (method: string) => /^eth_send(?:Raw)?Transaction/.test(method)
const stateChange = /^(?:anvil|hardhat)_(?:(?:set|add)Balance|set(?:Code|Nonce|StorageAt)|dealERC20|setERC20Allowance)$/
const blockChange = /^(?:anvil|evm|hardhat)_(?:mine|increaseTime|setTime|setNextBlockTimestamp)$/
/** Calls whose effect is not in the journal, so that the whole state is saved. */
const isChange = (method: string) => stateChange.test(method) || blockChange.test(method)
const isFact = (method: string) => /^(?:anvil|hardhat)_(?:nodeInfo|metadata)$/.test(method)
/** anvil's other methods take blocks back, or lead to blocks that cannot be executed again. */
const isRefused = (method: string) =>
  (/^(?:anvil|hardhat|evm|tenderly)_/.test(method) && !isChange(method) && !isFact(method)) ||
  method === 'eth_sendUnsignedTransaction'

type Node = AsyncDisposable & {
  readonly url: string
  /** Resolves with the reason. */
  readonly ended: Promise<string>
  /** Throws `Refused` if anvil returns an error. */
  readonly ask: <T>(method: string, params?: readonly unknown[]) => Promise<T>
}

class Refused extends Error {
  override name = 'Refused'
}

async function startNode(): Promise<Node> {
  const port = await freePort()
  const flags = ['--port', String(port), '--no-mining', '--no-request-size-limit', ...anvilFlags]
  const [bin, args] = tied({ bin: anvilBinary(), args: flags })
  const child = Bun.spawn([bin, ...args], { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
  const url = `http://127.0.0.1:${port}`
  const node: Node = {
    url,
    ended: child.exited.then((code) => `${child.signalCode ?? `exit ${code}`}`),
    ask: async <T>(method: string, params: readonly unknown[] = []) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      const answer = await fetch(url, request).catch(() => Promise.reject(new Error('anvil does not respond')))
      const { result, error } = (await answer.json()) as { result: T; error?: { message: string } }
      if (error) throw new Refused(`anvil refused ${method}: ${error.message}`)
      return result
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
  }
  while (child.exitCode === null && child.signalCode === null) {
    if (await node.ask('eth_chainId').catch(() => undefined)) return node
    await pause(20)
  }
  throw new Error(`anvil ended before it responded: ${await node.ended}`)
}

type Block = {
  number: string
  hash: string
  timestamp: string
  baseFeePerGas: string
  transactions: { hash: string; from: string }[]
}

const latestBlock = (node: Node) => node.ask<Block>('eth_getBlockByNumber', ['latest', true])

/** Mines a block at Monad's least base fee, which anvil would let fall. Resolves when the block is on disk. */
async function mine(node: Node, files: ChainFiles): Promise<void> {
  await node.ask('anvil_setNextBlockBaseFeePerGas', [`0x${leastBaseFeeWei.toString(16)}`])
  await node.ask('evm_mine')
  const { number, hash, timestamp, baseFeePerGas: baseFee, transactions } = await latestBlock(node)
  const signed = transactions.map(({ hash }) => node.ask<string>('eth_getRawTransactionByHash', [hash]))
  const bytes = await Promise.all(signed)
  await files.append({
    number: Number(number),
    hash,
    timestamp: Number(timestamp),
    baseFee,
    transactions: transactions.map(({ from }, index) => ({ from, signed: bytes[index]! })),
  })
}

/** Resolves when the snapshot is on disk. */
async function save(node: Node, files: ChainFiles): Promise<void> {
  const dump = await node.ask<string>('anvil_dumpState')
  await files.replace(await shortenedSnapshot(Buffer.from(dump.slice(2), 'hex')))
}

/** Returns an anvil with all blocks. Throws `DamagedChain` if the files do not lead to them. */
async function restore(files: ChainFiles): Promise<Node> {
  const node = await startNode()
  try {
    const snapshot = files.snapshot()
    if (snapshot) await load(node, snapshot)
    else await save(node, files)
    const { number, timestamp } = await latestBlock(node)
    // A new anvil's clock is ahead of the blocks to repeat.
    await node.ask('evm_setTime', [Number(timestamp)])
    for (const block of files.blocks()) if (block.number > Number(number)) await repeat(node, block)
    await continueClock(node)
    for (let count = 0; count < blocksToFinality; count++) await mine(node, files)
    return node
  } catch (error) {
    await node[Symbol.asyncDispose]()
    throw error
  }
}

async function load(node: Node, snapshot: Uint8Array): Promise<void> {
  try {
    await node.ask('anvil_loadState', [`0x${Buffer.from(snapshot).toString('hex')}`])
  } catch (error) {
    throw error instanceof Refused ? new DamagedChain(`its snapshot cannot be loaded: ${error.message}`) : error
  }
}

async function repeat(node: Node, block: KeptBlock): Promise<void> {
  for (const transaction of block.transactions) await resend(node, transaction)
  await node.ask('anvil_setNextBlockBaseFeePerGas', [block.baseFee])
  await node.ask('evm_mine', [block.timestamp])
  const { number, hash } = await latestBlock(node)
  if (Number(number) !== block.number || hash !== block.hash)
    throw new DamagedChain(
      `block ${block.number} was ${block.hash}, and is executed as block ${Number(number)} ${hash}`,
    )
}

/**
 * Sends a transaction of a block again. anvil checks the sender's balance before the block, and an earlier transaction
 * of the same block may have paid in what it lacks.
 */
async function resend(node: Node, { from, signed }: KeptTransaction): Promise<void> {
  const send = () => node.ask('eth_sendRawTransaction', [signed])
  try {
    await send()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const balance = await node.ask('eth_getBalance', [from, 'latest'])
    await node.ask('anvil_setBalance', [from, `0x${'f'.repeat(32)}`])
    await send()
    await node.ask('anvil_setBalance', [from, balance])
  }
}

/** Sets the clock to the present, unless it was moved forward before. */
async function continueClock(node: Node): Promise<void> {
  const { timestamp } = await latestBlock(node)
  await node.ask('evm_setTime', [Math.max(Number(timestamp), Math.floor(Date.now() / 1_000))])
}

/** The life of one anvil. */
type OpenChain = {
  /** Resolves when everything that the response can show is on disk. */
  readonly answer: (request: Request, body: string, methods: readonly string[]) => Promise<Response>
  /** Mines until `stop`. Throws if anvil dies or a block cannot be kept; then this anvil must not be used again. */
  readonly run: (stop: AbortSignal) => Promise<void>
}

function openChain(node: Node, files: ChainFiles): OpenChain {
  const broken = Promise.withResolvers<never>()
  let fault: Error | undefined
  const breaks = (why: Error) => {
    fault ??= why
    broken.reject(fault)
  }
  void node.ended.then((how) => breaks(new Error(`anvil died (${how})`)))
  // Mining, changing and saving never overlap, and none follows a failure.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(() => {
      if (fault) throw fault
      return work()
    })
    turn = done.catch(breaks)
    return done
  }
  let unsaved = turn
  let quickUntil = performance.now() + quickForMs
  let wake = () => {}
  let [blocks, savedAt, tookMs] = [files.blocks().length, performance.now(), 0]
  const saveAll = async () => {
    const startedAt = performance.now()
    await save(node, files)
    savedAt = performance.now()
    tookMs = savedAt - startedAt
    blocks = 0
  }
  const keepMining = async (stop: AbortSignal) => {
    while (!stop.aborted) {
      const next = performance.now() + quickMs
      const mined = inTurn(() => mine(node, files))
      unsaved = mined
      await mined
      blocks++
      if (blocks >= journalBlocksMax && performance.now() - savedAt >= restPerSnapshot * tookMs) await inTurn(saveAll)
      await pause(Math.max(0, next - performance.now()), stop)
      if (performance.now() < quickUntil) continue
      const sent = new Promise<void>((resolve) => {
        wake = resolve
      })
      await Promise.race([pause(restMs - quickMs, stop), sent])
    }
  }
  return {
    answer: async (request, body, methods) => {
      if (methods.some(isChange)) {
        const changed = inTurn(async () => {
          const answer = await forward(node, request, body)
          await saveAll()
          return answer
        })
        unsaved = changed
        return changed
      }
      if (methods.some(isSend)) {
        quickUntil = performance.now() + quickForMs
        wake()
      }
      const answer = await forward(node, request, body)
      await unsaved
      return answer
    },
    run: async (stop) => {
      try {
        await Promise.race([broken.promise, keepMining(stop)])
      } finally {
        breaks(new Error('the chain was closed'))
        await turn // From here on, nothing writes to the files.
      }
    },
  }
}

async function forward({ url }: Node, request: Request, body: string): Promise<Response> {
  const headers = new Headers(request.headers)
  headers.delete('host')
  const answer = await fetch(url, { method: request.method, headers, body: body || null })
  return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers })
}

function asksIn(body: string): RpcAsk[] {
  try {
    const asked = JSON.parse(body) as RpcAsk | RpcAsk[]
    return (Array.isArray(asked) ? asked : [asked]).filter((ask) => typeof ask?.method === 'string')
  } catch {
    return [] // anvil answers with the error.
  }
}

const headers = { 'access-control-allow-origin': '*' }
const shut = () =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'the chain is being restored, try again' } },
    { status: 503, headers },
  )

function refusal(asks: readonly RpcAsk[]): Response | undefined {
  const refused = asks.find(({ method }) => isRefused(method))
  if (!refused) return undefined
  const replies = asks.map((ask) =>
    refuseTo(ask, -32_601, `${refused.method} is refused, because this chain keeps its blocks`),
  )
  return Response.json(replies.length === 1 ? replies[0] : replies, { headers })
}

/**
 * Serves a chain that never takes a block back, until `stop`. anvil runs in memory, so this process starts it, mines
 * its blocks and is the only way to reach it: a response leaves only when each block and change that anvil had made
 * by then is on disk. After a kill of either process, a new anvil loads the last snapshot and executes the blocks
 * since, with the same hashes. Transactions that were in no block yet are lost, as when any node dies.
 *
 * A GET request returns 200 while the chain can be used. Throws `DamagedChain`.
 */
async function keep(options: { dir: string; host: string; port: number; stop: AbortSignal; say: Say }): Promise<void> {
  const { stop, say } = options
  mkdirSync(options.dir, { recursive: true })
  await using files = await openChainFiles(options.dir)
  let open: OpenChain | undefined
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: 0,
    fetch: async (request) => {
      const chain = open
      if (!chain) return shut()
      if (request.method === 'GET') return new Response()
      const body = await request.text()
      const asks = asksIn(body)
      const methods = asks.map(({ method }) => method)
      return refusal(asks) ?? (await chain.answer(request, body, methods).catch(shut))
    },
  })
  while (!stop.aborted) {
    try {
      await using node = await restore(files)
      open = openChain(node, files)
      await open.run(stop)
    } catch (error) {
      if (error instanceof DamagedChain) throw error
      say(`${(error as Error).message}, restoring the chain`)
      await pause(retryMs, stop)
    } finally {
      open = undefined
    }
  }
  await server.stop(true)
}

const retryMs = 200

if (import.meta.main) {
  await runCommand(
    () => [],
    async (say) => {
      const { CHAIN_DIR: dir, HOST: host = '127.0.0.1', PORT: port = '8545' } = process.env
      if (!dir) throw new Error('CHAIN_DIR must be set')
      const stop = new AbortController()
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort())
      if (process.env.END_WITH_STDIN === '1') endWithParent(() => stop.abort())
      await keep({ dir, host, port: Number(port), stop: stop.signal, say })
    },
  )
  process.exit()
}
