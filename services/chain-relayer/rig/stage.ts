import {
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  publicActions,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { startAnvil } from '#infra/contracts/anvil-process'
import { deployContracts } from '#infra/contracts/deploy'
import { actorKeys } from '#infra/contracts/stage'
import { migrateAll } from '#infra/migrations/migrate'
import { startScratchPostgres } from '#infra/migrations/scratch-postgres'
import { handle } from '#shared/bus/handling'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { systemClock, toUnixSeconds } from '#shared/clock'
import { type Database, openDatabase } from '#shared/db/open'
import { pause } from '#shared/deadline'
import { openLog } from '#shared/log'
import { accountReader } from '../account'
import { type TokenDomain, typedTransfer } from '../authorization'
import { inspectChain } from '../boot'
import { lanes } from '../lane.store'
import { openNode } from '../node'
import type { Task } from '../operation'
import { operationReactions } from '../operation.reactions'
import { findOperation } from '../operation.store'
import { orderOf } from '../order'
import type { Desk } from '../questions'
import { newLife, type Relayer, type Settings } from '../relayer'
import { round } from '../rounds'
import { mail } from '../schema.store'

const log = openLog('chain-relayer', process.env.LOG_LEVEL ?? 'silent')

/** A real Postgres, migrated as everywhere; opened as the owner, since suites take rows away. */
async function openTestDatabase() {
  const server = await startScratchPostgres()
  const { adminUrl, passwords } = server
  await migrateAll({ adminUrl, passwords })
  const database = openDatabase({ url: adminUrl, name: 'test', log, onStuck: () => {} })
  const close = async () => {
    await database[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  }
  return { database, close }
}

/** Waits for a fact, with a deadline; a fact that never comes names itself. */
export async function until(fact: () => Promise<unknown>, what: string, withinMs = 15_000) {
  const endAt = Date.now() + withinMs
  while (!(await fact())) {
    if (Date.now() > endAt) throw new Error(`${what} did not happen within ${withinMs} ms`)
    await pause(40)
  }
}

/** Answers a request itself, or passes it on with `forward`. */
export type Interference = (
  method: string,
  forward: () => Promise<Response>,
  params: readonly unknown[],
) => Promise<Response> | undefined

/** An endpoint before the chain that a test can make lie. */
function openLiar(target: string) {
  const liar = { interfere: undefined as Interference | undefined, url: '', close: () => {} }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const body = await request.text()
      const headers = { 'content-type': 'application/json' }
      const forward = () => fetch(target, { method: 'POST', headers, body })
      const { method, params } = JSON.parse(body) as { method: string; params: unknown[] }
      return (await liar.interfere?.(method, forward, params)) ?? forward()
    },
  })
  liar.url = `http://127.0.0.1:${server.port}`
  liar.close = () => void server.stop(true)
  return liar
}

/** Keys that may be lanes; the first alone unless a suite asks for more. */
const laneKeys = [actorKeys.relayer, actorKeys.verifier]
const chainId = 10143

/** Postgres, a chain with the contracts, and the service's inner parts; the bus alone is missing. */
export async function openStage(laneCount = 1) {
  const keys = laneKeys.slice(0, laneCount).map((key) => privateKeyToAccount(key))
  const [store, anvil] = await Promise.all([
    openTestDatabase(),
    startAnvil(['--slots-in-an-epoch', '1', '--block-time', '0.1']),
  ])
  const lanesOf = keys.map(({ address }) => address)
  const deployment = await deployContracts({ ...terms(lanesOf), rpcUrl: anvil.rpcUrl })
  const liar = openLiar(anvil.rpcUrl)
  const chain = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
  const { ausd, creditLine, genesisHash } = deployment
  const node = openNode({ rpcUrls: [liar.url], chainId })
  const treasury = privateKeyToAccount(actorKeys.treasury)
  const expected = { chainId, genesisHash, ausd, creditLine, treasury }
  const domain: TokenDomain = await inspectChain(node, { ...expected, lanes: keys })
  const contracts = { ausd, creditLine, domain }
  const { database } = store
  const shared = { database, node, contracts, clock: systemClock, log }
  const account = accountReader(node.reader, contracts)
  const desk: Desk = { ...shared, account, wake: () => {} }

  /** One life of the service: what it remembers ends with it, its leases lapse. */
  async function begin(settings: Partial<Settings> = {}): Promise<Relayer> {
    await database.read((db) => db.update(lanes).set({ leasedUntil: null }))
    const own = { treasury, keys, poke: () => {} }
    return { ...shared, ...own, ...newLife(), settings: { ...hasty, ...settings } }
  }
  const close = async () => {
    liar.close()
    await Promise.all([store.close(), anvil.close()])
  }
  return {
    ...{
      rpcUrl: anvil.rpcUrl,
      database,
      chain,
      liar,
      node,
      contracts,
      expected,
      treasury,
      keys,
      desk,
      begin,
      close,
    },
    ...orders(database),
    ...chainReads(chain, contracts),
  }
}

const terms = (lanesOf: readonly Hex[]) => ({
  adminKey: actorKeys.admin,
  treasuryKey: actorKeys.treasury,
  relayers: lanesOf,
  verifiers: lanesOf,
  treasuryFundsMicro: 1_000_000_000n,
  liquidityMicro: 1_000_000_000n,
  holdSeconds: 60,
  minCycleSeconds: 1,
  minDebtMicro: 1n,
  termSeconds: 600,
  graceSeconds: 86_400,
})

const hasty: Settings = {
  chainId,
  dripWei: 50_000_000_000_000_000n,
  dripBelowWei: 20_000_000_000_000_000n,
  laneFloorWei: 0n,
  rebroadcastAfterMs: 400,
  bumpAfterMs: 700,
  batchMax: 16,
}

function orders(database: Database) {
  const desk = { consumer: 'chain-relayer', database, messaging: mail, log, poke: () => {} }
  /** Delivers a command as the stream would. */
  const command = (task: Task, messageId: string = crypto.randomUUID()) =>
    handle(
      { ...desk, reactions: operationReactions },
      { subject: `relay.${task.kind}`, messageId, payload: task.payload },
    )
  const operationOf = (task: Task) =>
    database.read((db) => findOperation(db, orderOf(task).id)).then((found) => found!)
  /** Rounds until the operation has ended. */
  async function finish(relayer: Relayer, task: Task) {
    await until(async () => {
      await round(relayer)
      return ['settled', 'failed'].includes((await operationOf(task)).state)
    }, `the end of a ${task.kind}`)
    return operationOf(task)
  }
  return { command, operationOf, finish }
}

function chainReads(
  chain: ReturnType<typeof openNode>['reader'] | object,
  { ausd, creditLine, domain }: { ausd: Hex; creditLine: Hex; domain: TokenDomain },
) {
  const client = chain as ReturnType<typeof openNode>['reader']
  const admin = privateKeyToAccount(actorKeys.admin)
  const balanceOf = (wallet: Hex) =>
    client.readContract({ address: ausd, abi: ausdAbi, functionName: 'balanceOf', args: [wallet] })
  const lineOf = (wallet: Hex) =>
    client.readContract({
      address: creditLine,
      abi: creditLineAbi,
      functionName: 'accountOf',
      args: [wallet],
    })
  /** A transaction of somebody else, mined. */
  async function submit(key: Hex, to: Hex, data: Hex) {
    const wallet = client as unknown as { sendTransaction: (fields: object) => Promise<Hex> }
    const account = privateKeyToAccount(key)
    const hash = await wallet.sendTransaction({ account, to, data, chain: null, gas: 500_000n })
    await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    return hash
  }
  const mint = (wallet: Hex, micro: bigint) =>
    submit(
      actorKeys.admin,
      ausd,
      encodeFunctionData({ abi: ausdAbi, functionName: 'mint', args: [wallet, micro] }),
    ).then(() => admin)
  async function sign(
    key: Hex,
    terms: { to: Hex; value: bigint; nonce: Hex; forSeconds?: number },
  ) {
    const account = privateKeyToAccount(key)
    const fields = {
      from: account.address,
      to: terms.to,
      value: String(terms.value),
      validAfter: '0',
      validBefore: String(toUnixSeconds(Date.now()) + (terms.forSeconds ?? 3_600)),
      nonce: terms.nonce,
    }
    return { ...fields, signature: await account.signTypedData(typedTransfer(domain, fields)) }
  }
  return { balanceOf, lineOf, submit, mint, sign }
}
