import {
  createTestClient,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  publicActions,
  toBytes,
  walletActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

import { handle } from '#platform/bus/handling'
import { systemClock, toUnixSeconds } from '#platform/clock'
import { openDatabase } from '#platform/db/open'
import { pause } from '#platform/deadline'
import { openLog } from '#platform/log'
import { schemaReader } from '#platform/schema'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { type SignedTransfer, type TokenDomain, typedCancel, typedTransfer } from '#shared/chain/erc3009'
import type { GivenAuthorization } from '#shared/chain/given-authorization'
import { idFor } from '#shared/ids'
import { topics } from '#shared/messages/catalogue'
import { actorKeys, deployContracts, ownedWalletAbi, ownedWalletBytecode } from '#test/support/contracts'
import { startAnvil } from '#test/support/engines/anvil'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { defaultsOf } from '#test/support/settings'
import { patienceMs } from '#test/support/wait'
import { assemble, type Config, type Means, messagesOf } from './assemble'
import { inspectChain } from './chain/await-chain'
import { openContractSignatures } from './chain/contract-signature'
import { openNode } from './chain/node'
import { fields } from './config'
import { type Context, newProcess, type Settings } from './context'
import { openKeys } from './keys/keys'
import { type Policy, policyOf } from './keys/policy'
import { lanes } from './lanes/lane.store'
import { searchOnce } from './operations/authorization-search'
import { orderOf, type Task } from './operations/operation'
import { findOperation } from './operations/operation.store'
import { accountReader } from './questions/reads'
import { relayOnce } from './relay-loop'

const log = openLog('chain-relayer', process.env.SUITE_LOG ?? 'silent')

/** Opens the database as its owner, because suites delete rows. */
async function openTestDatabase() {
  const server = await startScratchPostgres()
  const database = openDatabase({ url: server.adminUrl, name: 'test', log, onFatal: () => {} })
  const close = async () => {
    await database[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  }
  return { database, close }
}

/** Waits for a fact. Unlike `waitUntil`, it ends with the first error. */
export async function until(fact: () => Promise<unknown>, what: string, withinMs = patienceMs) {
  const endAt = Date.now() + withinMs
  while (!(await fact())) {
    if (Date.now() > endAt) throw new Error(`${what} did not happen within ${withinMs} ms`)
    await pause(40)
  }
}

/** Returns the context of a new process, with the lines that raise alerts, in order. */
export function listening(context: Context): Context & { readonly raised: Raised[] } {
  const raised: Raised[] = []
  const write = (line: string) => {
    const logged = JSON.parse(line)
    if (logged.alarm) raised.push(logged)
  }
  const log = openLog('suite', 'info', { write })
  return { ...context, ...newProcess(log, context.clock), log, raised }
}
export const linesOf = ({ raised }: { readonly raised: readonly Raised[] }): string[] => raised.map(({ msg }) => msg)
type Raised = { readonly msg: string; readonly [field: string]: unknown }

export type Intercept = (
  method: string,
  forward: () => Promise<Response>,
  params: readonly unknown[],
) => Promise<Response> | undefined

function openEndpoint(target: string) {
  const endpoint = { intercept: undefined as Intercept | undefined, url: '', close: () => {} }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const body = await request.text()
      const headers = { 'content-type': 'application/json' }
      const forward = () => fetch(target, { method: 'POST', headers, body })
      const { method, params } = JSON.parse(body) as { method: string; params: unknown[] }
      return (await endpoint.intercept?.(method, forward, params)) ?? forward()
    },
  })
  endpoint.url = `http://127.0.0.1:${server.port}`
  endpoint.close = () => void server.stop(true)
  return endpoint
}

const laneKeys = [actorKeys.relayer, actorKeys.verifier]
const chainId = 10143

/** Starts Postgres, a chain with the contracts, and the service without its bus. */
export async function openFixture(laneCount = 1) {
  const secret = { laneKeys: laneKeys.slice(0, laneCount), treasuryKey: actorKeys.treasury }
  const keys = secret.laneKeys.map((key) => privateKeyToAccount(key))
  const [store, anvil] = await Promise.all([
    openTestDatabase(),
    startAnvil(['--slots-in-an-epoch', '1', '--block-time', '0.1']),
  ])
  const lanesOf = keys.map(({ address }) => address)
  const deployment = await deployContracts({ ...terms(lanesOf), rpcUrl: anvil.rpcUrl })
  const endpoint = openEndpoint(anvil.rpcUrl)
  const chain = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
  const { ausd, creditLine } = deployment
  const node = openNode({ endpoints: openRpcEndpoints({ rpcUrls: [endpoint.url] }), chainId })
  const treasury = privateKeyToAccount(actorKeys.treasury)
  const expected = { deployment: 'local' as const, chainId, ausd, creditLine, treasury }
  const domain: TokenDomain = await inspectChain(node, { ...expected, lanes: keys })
  const contracts = { ausd, creditLine, domain }
  const { database } = store
  const config: Config = {
    ...defaultsOf('chain-relayer', fields),
    ausdAddress: ausd,
    creditLineAddress: creditLine,
    ...fast,
  }
  const signersOf = (limits: Partial<Policy['limits']> = {}) => {
    const usual = policyOf(config)
    const policy = { ...usual, limits: { ...usual.limits, ...limits } }
    return { policy, ...openKeys(secret, policy) }
  }
  const means: Means = {
    database,
    node,
    contracts,
    ...openKeys(secret, policyOf(config)),
    account: accountReader(node.reader, contracts),
    isAccepted: openContractSignatures({ node, ethCallsPerSecond: config.rpcEthCallsPerSecond }),
    copies: { count: () => 1, poke: () => {} },
    log,
    clock: systemClock,
    poke: () => {},
    wake: () => {},
  }
  const context = assemble(config, means)

  /** Restarts the service: its memory is empty and its leases have expired. */
  async function begin(settings: Partial<Settings> = {}): Promise<Context> {
    await database.run((db) => db.update(lanes).set({ leasedUntil: null }))
    return assemble({ ...config, ...settings }, means)
  }

  /** Deploys another credit line, with a token of its own. Returns what differs in a service that is configured with them. */
  async function replaceLine() {
    const { ausd, creditLine } = await deployContracts({ ...terms(lanesOf), rpcUrl: anvil.rpcUrl })
    const contracts = { ausd, creditLine, domain: { ...domain, verifyingContract: ausd } }
    const policy = policyOf({ ...config, ausdAddress: ausd, creditLineAddress: creditLine })
    return { contracts, policy, ...openKeys(secret, policy), account: accountReader(node.reader, contracts) }
  }

  const close = async () => {
    endpoint.close()
    await Promise.all([store.close(), anvil.close()])
  }
  return {
    rpcUrl: anvil.rpcUrl,
    database,
    chain,
    endpoint,
    node,
    contracts,
    expected,
    treasury,
    keys,
    context,
    signersOf,
    begin,
    replaceLine,
    close,
    ...orders(context),
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

/** The suites ask for a round themselves, on a chain with a block every 0.1 s. */
const fast = { pollMs: 0, rebroadcastAfterMs: 400, bumpAfterMs: 700 }

/** Returns a task as the service reads it from its message. */
export function asRead<T extends Task>(task: T): T {
  const topic = topics.find(({ subject }) => subject === `relay.${task.kind}`)
  if (!topic) return task // A send is a request, which `createSend` has already read.
  const read = schemaReader(topic.schema)(structuredClone(task.payload))
  if ('fault' in read) throw new Error(read.fault)
  return { ...task, payload: read.value }
}

function orders(context: Context) {
  const { database } = context
  const messages = messagesOf(context)
  const command = (task: Task, messageId: string = crypto.randomUUID()) =>
    handle(messages, { subject: `relay.${task.kind}`, messageId, payload: task.payload, isFresh: true })
  const operationOf = (task: Task) =>
    database.read((db) => findOperation(db, orderOf(asRead(task)).id)).then((found) => found!)
  async function finish(context: Context, task: Task) {
    let isLooking = false
    const look = async () => {
      if (isLooking) return
      isLooking = true
      await searchOnce(context, new Map()).catch(() => {})
      isLooking = false
    }
    await until(async () => {
      await relayOnce(context)
      void look()
      return ['settled', 'failed'].includes((await operationOf(task)).state)
    }, `the end of a ${task.kind}`)
    return operationOf(task)
  }
  return { command, operationOf, finish }
}

export function chainReads(
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
  async function sign(key: Hex, terms: { to: Hex; value: bigint; nonce: Hex; forSeconds?: number }) {
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

type Fixture = Awaited<ReturnType<typeof openFixture>>

export const newRefId = () => idFor('payment', crypto.randomUUID())
export const newNonce = () => keccak256(toBytes(crypto.randomUUID()))

export const recipient = privateKeyToAccount(generatePrivateKey()).address

export async function newWallet(fixture: Fixture, micro = 10_000_000n) {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await fixture.chain.setBalance({ address, value: 10n ** 18n })
  if (micro > 0n) await fixture.mint(address, micro)
  return { key, address }
}

/** Deploys a wallet whose code accepts what its owner signs, once it is wrapped. */
export async function newOwnedWallet(fixture: Fixture) {
  const { key, address: owner } = await newWallet(fixture, 0n)
  const data = encodeDeployData({ abi: ownedWalletAbi, bytecode: ownedWalletBytecode, args: [owner] })
  const account = privateKeyToAccount(key)
  const hash = await fixture.chain.sendTransaction({ account, data, chain: null, gas: 1_000_000n })
  const receipt = await fixture.chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
  const wallet = receipt.contractAddress!
  await fixture.mint(wallet, 10_000_000n)
  const wrap = (signature: Hex) =>
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes' }], [keccak256(toBytes('OwnedWallet')), signature])
  return { account, wallet, wrap }
}

export const take = (authorization: SignedTransfer): Task & { kind: 'take' } => ({
  kind: 'take',
  payload: { payoutId: crypto.randomUUID(), authorization },
})
export const transferData = (signed: GivenAuthorization) =>
  encodeFunctionData({
    abi: ausdAbi,
    functionName: 'transferWithAuthorization',
    args: [
      signed.from as Hex,
      signed.to as Hex,
      BigInt(signed.value),
      BigInt(signed.validAfter),
      BigInt(signed.validBefore),
      signed.nonce as Hex,
      signed.signature as Hex,
    ],
  })
export async function cancelData(key: Hex, nonce: string, domain: TokenDomain): Promise<Hex> {
  const account = privateKeyToAccount(key)
  const message = { authorizer: account.address, nonce: nonce as Hex }
  const signature = await account.signTypedData(typedCancel(domain, message))
  const args = [message.authorizer, message.nonce, signature] as const
  return encodeFunctionData({ abi: ausdAbi, functionName: 'cancelAuthorization', args })
}
export const freeze = (wallet: Hex, frozen: boolean, revision: bigint): Task => ({
  kind: 'freeze',
  payload: { wallet, frozen, revision: String(revision) },
})
export const verify = (wallet: Hex, verified: boolean, revision: bigint): Task => ({
  kind: 'verify',
  payload: { wallet, verified, revision: String(revision) },
})
