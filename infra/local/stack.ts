import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Backbone, bootBackbone } from '#infra/local/backbone'
import { localTerms, type Terms } from '#infra/local/chain'
import type { Command } from '#infra/local/child'
import { copyName, missingCopies } from '#infra/local/copies'
import {
  type Env,
  environments,
  makeSecrets,
  type OwnProcess,
  type Places,
  type Secrets,
  soonerTimes,
} from '#infra/local/environment'
import { emptyDir, repositoryDir } from '#infra/local/folders'
import { type DevAccount, devWallets } from '#infra/local/keys'
import { freePort } from '#infra/local/ports'
import { openProcesses, type Processes } from '#infra/local/processes'
import { removeStackFile, type StackFile, writeStackFile } from '#infra/local/stack-file'
import type { Death, Supervised } from '#infra/local/supervisor'
import { waitUntil } from '#infra/local/wait'
import { openRpcProxy, type RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

export type ProcessName = OwnProcess | 'postgres' | 'nats-server' | 'chain'

export type StackOptions = {
  dir: string
  /** `wanted`: the well-known ports, moved when taken. `free`: any. */
  ports: 'wanted' | 'free'
  /** Whether Postgres survives a power cut; suites do without. */
  durable: boolean
  /** How often processes look after what is quiet: as a deployment does, or sooner when left out. */
  times?: 'deployed'
  /** More variables for a process, over the usual ones. */
  env?: Partial<Record<OwnProcess, Env>>
  services?: readonly ServiceName[]
  /** Copies of every service; one when left out. */
  copies?: number
  /** Where the code of a copy is, counted from 1; this repository when left out. */
  codeDir?: (copy: number) => string
  /** Whether the job that reconciles the books runs too; nothing waits for it. */
  books?: boolean
  /** Whether the job that removes old rows runs too; nothing waits for it. */
  pruning?: boolean
  terms?: Partial<Terms>
  /** The user's own Postgres, NATS or chain, by the usual variable names. */
  own?: Readonly<Record<string, string | undefined>>
  /** The services reach the chain through a fault proxy; everybody else stays at the node. */
  proxied?: boolean
  /** What services find behind the host of their RPC URL, as a vendor's key: `/v2/<key>`. */
  rpcPath?: string
  onDeath?: (death: Death) => void
}

export type Stack = AsyncDisposable & {
  readonly info: StackFile
  readonly dir: string
  readonly adminUrl: string
  /** There when the stack is `proxied`. */
  readonly rpcProxy: RpcProxy | undefined
  /** Writing this file's name as FAILPOINT_FILE's content kills a process there, once. */
  readonly failpointFile: (name: ServiceName) => string
  /** Where each copy of the gateway listens; `info.gateway` is the first. */
  readonly gateways: readonly string[]
  /** The first copy, or that one. */
  readonly process: (name: ProcessName, copy?: number) => Supervised
  /** Waits until every service has all its copies on the bus. */
  readonly allCopies: () => Promise<void>
  /** Streams and consumers again: what an operator runs after JetStream lost its store. */
  readonly provision: () => Promise<void>
}

const wantedPorts = {
  gateway: 3000,
  ops: 3001,
  sandbox: 3100,
  nats: 4222,
  monitor: 8222,
  postgres: 5432,
  chain: 8545,
}
const anyPorts = { gateway: 0, ops: 0, sandbox: 0, nats: 0, monitor: 0, postgres: 0, chain: 0 }

/** Boots everything on this machine in `dir` and resolves when every service is ready. */
export async function bootStack(options: StackOptions): Promise<Stack> {
  emptyDir(join(options.dir, 'logs'))
  removeStackFile(options.dir)
  const keep: { current: () => void } = { current: () => {} }
  const processes = openProcesses({
    onDeath: (death) => options.onDeath?.(death),
    onStart: () => keep.current(),
  })
  try {
    return await boot(processes, options, keep)
  } catch (error) {
    await processes.end()
    throw error
  }
}

async function boot(
  processes: Processes,
  options: StackOptions,
  keep: { current: () => void },
): Promise<Stack> {
  const ports = options.ports === 'wanted' ? wantedPorts : anyPorts
  const own = options.own ?? {}
  const secrets = makeSecrets(own)
  const wallets = devWallets(10)
  const backbone = await bootBackbone(processes, {
    dir: options.dir,
    wantedPorts: ports,
    durable: options.durable,
    secrets,
    terms: { ...localTerms, ...options.terms },
    wallets,
    own,
  })
  const places = await place(backbone, ports, options.dir)
  const gatewayPorts = await portsOfCopies(places, options.copies ?? 1)
  const rpcProxy = options.proxied ? openRpcProxy({ target: places.rpcUrl }) : undefined
  startOwnProcesses(
    processes,
    { ...places, rpcUrl: (rpcProxy?.url ?? places.rpcUrl) + (options.rpcPath ?? '') },
    secrets,
    options,
    gatewayPorts,
  )
  const allCopies = async () => {
    const { services = serviceNames, copies = 1 } = options
    const bus = { url: backbone.natsUrl, password: secrets.nats.admin }
    const isThere = async () => (await missingCopies(bus, services, copies)).length === 0
    await waitUntil('every copy being there', isThere, 60_000)
  }
  await waitUntil('every service being ready', () => ready(places.opsPort), 60_000)
  if ((options.copies ?? 1) > 1) await allCopies()

  const info = () => describe(processes, places, secrets, backbone, wallets)
  keep.current = () => writeStackFile(options.dir, info())
  keep.current()
  return {
    get info() {
      return info()
    },
    dir: options.dir,
    adminUrl: backbone.adminUrl,
    rpcProxy,
    failpointFile: (name) => failpointFile(options.dir, name),
    gateways: gatewayPorts.map(({ http }) => `http://127.0.0.1:${http}`),
    process: (name, copy = 1) => processes.get(copyName(name, copy)),
    allCopies,
    provision: backbone.provision,
    [Symbol.asyncDispose]: async () => {
      keep.current = () => {}
      removeStackFile(options.dir)
      await processes.end()
      await rpcProxy?.[Symbol.asyncDispose]()
    },
  }
}

async function place(backbone: Backbone, ports: typeof wantedPorts, dir: string): Promise<Places> {
  const bookPath = join(dir, 'sandbox.jsonl')
  rmSync(bookPath, { force: true }) // A new world: nothing of an earlier one happened in it.
  const gatewayPort = await freePort(ports.gateway)
  const opsPort = await freePort(ports.ops)
  const sandboxPort = await freePort(ports.sandbox)
  return {
    ...backbone,
    gatewayPort,
    opsPort,
    sandboxPort,
    gateway: `http://127.0.0.1:${gatewayPort}`,
    sandbox: `http://127.0.0.1:${sandboxPort}`,
    bookPath,
  }
}

/** Every copy of the gateway listens on ports of its own. */
type GatewayPorts = { http: number; ops: number }

async function portsOfCopies(first: Places, copies: number): Promise<GatewayPorts[]> {
  const ports = [{ http: first.gatewayPort, ops: first.opsPort }]
  while (ports.length < copies) ports.push({ http: await freePort(), ops: await freePort() })
  return ports
}

const failpointFile = (dir: string, name: ServiceName) => join(dir, `failpoint-${name}`)

function startOwnProcesses(
  processes: Processes,
  places: Places,
  secrets: Secrets,
  options: StackOptions,
  gatewayPorts: readonly GatewayPorts[],
) {
  mkdirSync(options.dir, { recursive: true })
  const env = environments(places, secrets)
  const times = options.times === 'deployed' ? {} : soonerTimes
  const command = (name: OwnProcess, script: string, copy = 1): Command => ({
    name: copyName(name, copy),
    bin: process.execPath,
    args: [join(options.codeDir?.(copy) ?? repositoryDir, script)],
    env: { END_WITH_STDIN: '1', ...env[name], ...times[name], ...options.env?.[name] },
    logFile: join(options.dir, `logs/${copyName(name, copy)}.log`),
  })
  const addService = (name: ServiceName, copy: number) => {
    const service = command(name, `services/${name}/main.ts`, copy)
    const { http, ops } = gatewayPorts[copy - 1]!
    const listens = { HTTP_PORT: String(http), OPS_PORT: String(ops) }
    const own = {
      FAILPOINT_FILE: failpointFile(options.dir, name),
      ...service.env,
      ...(name === 'gateway' ? listens : {}),
    }
    processes.add({ ...service, env: own })
  }
  if (!options.own?.PROVIDER_URL) processes.add(command('sandbox', 'infra/sandbox/main.ts'))
  for (const name of options.services ?? serviceNames)
    for (let copy = 1; copy <= gatewayPorts.length; copy++) addService(name, copy)
  if (options.books) processes.add(command('books', 'infra/books/job.ts'))
  if (options.pruning) processes.add(command('pruning', 'infra/pruning/job.ts'))
}

const opsOf = (port: number) => `http://127.0.0.1:${port}`

/** The public answer may be 5 s old. */
const ready = async (opsPort: number) =>
  (await fetch(`${opsOf(opsPort)}/ready`, { signal: AbortSignal.timeout(2_000) })).ok

function describe(
  processes: Processes,
  places: Places,
  secrets: Secrets,
  backbone: Backbone,
  wallets: DevAccount[],
): StackFile {
  const isService = (one: Supervised) => (serviceNames as readonly string[]).includes(one.name)
  const { ausd, creditLine, treasury } = places.deployment
  return {
    gateway: places.gateway,
    ops: { gateway: opsOf(places.opsPort) },
    sandbox: places.sandbox,
    nats: {
      url: places.natsUrl,
      admin: { user: 'admin', password: secrets.nats.admin },
      monitor: backbone.natsMonitor,
    },
    postgres: { url: backbone.adminUrl },
    chain: { rpcUrl: places.rpcUrl, chainId: places.chainId, ausd, creditLine, treasury },
    webhooks: {
      payments: { ...secrets.callbackTokens },
      identity: { secret: secrets.identity.webhookSecret },
    },
    provider: {
      ID: { secretKey: secrets.providerKeys.ID },
      MY: { secretKey: secrets.providerKeys.MY },
    },
    accounts: wallets,
    services: Object.fromEntries(
      processes
        .all()
        .filter(isService)
        .map((one) => [one.name, { pid: one.pid() }]),
    ),
  }
}
