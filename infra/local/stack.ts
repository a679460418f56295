import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { currentBundles } from '#infra/bundle/bundle'
import { diedOfDamage, localTerms } from '#infra/local/chain'
import { actionsOf } from '#infra/local/controls/actions'
import { type Controls, openControlsListener } from '#infra/local/controls/listener'
import { copyName, missingCopies } from '#infra/local/copies'
import { bootDependencies, type ChoosePort, type Dependencies } from '#infra/local/dependencies'
import { databaseUrlAs, makeSecrets, type OwnProcess, type Places, type Secrets } from '#infra/local/environment'
import { emptyFolder } from '#infra/local/folders'
import { type DevAccount, devWallets } from '#infra/local/keys'
import { diedOfItsPort, freePort, PortTaken } from '#infra/local/ports'
import { openProcesses, type Processes } from '#infra/local/processes'
import { type StackOptions, wantedPorts } from '#infra/local/stack/options'
import { failpointFile, type GatewayPorts, startOwnProcesses } from '#infra/local/stack/own-processes'
import { removeStackFile, type StackFile, type StackPart, writeStackFile } from '#infra/local/stack-file'
import { type OwnedFolder, ownFolder } from '#infra/local/start/folder-owner'
import { damagedChain, discardKept, keptToContinue, writeKept } from '#infra/local/start/kept'
import { assertOwnUrls, diedOfItsConfiguration, faultOfConfiguration } from '#infra/local/start/own'
import { noProgress } from '#infra/local/start/progress'
import type { Supervised } from '#infra/local/supervisor'
import { unlessStopped } from '#infra/local/wait'
import { openRpcProxy, type RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

export type { StackOptions }
export type StackProcess = OwnProcess | 'postgres' | 'nats-server' | 'chain'

export type RunningStack = {
  readonly info: StackFile
  readonly dir: string
  readonly adminUrl: string
}

export type Stack = AsyncDisposable &
  RunningStack & {
    readonly rpcProxy: RpcProxy | undefined
    /** Returns the path of a file: writing a failpoint's name into it kills the service there, once. */
    readonly failpointFile: (name: ServiceName) => string
    readonly gateways: readonly string[]
    readonly consoles: readonly string[]
    /** Returns a process. `copy` is the number of its instance, counted from 1, the default. */
    readonly process: (name: StackProcess, copy?: number) => Supervised
    readonly allCopies: () => Promise<void>
    /** Recreates streams and consumers, as after JetStream lost its store. */
    readonly provision: () => Promise<void>
  }

function choosing({ ports, choosePort = (_, wanted) => freePort(wanted) }: StackOptions) {
  const moved: Partial<Record<StackPart, number>> = {}
  const choose = async (part: StackPart): Promise<number> => {
    if (ports !== 'wanted') return choosePort(part, 0)
    const port = await choosePort(part, wantedPorts[part])
    if (port !== wantedPorts[part]) moved[part] = wantedPorts[part]
    return port
  }
  return { choose, moved }
}

/** Starts a stack in `dir`. Throws `FolderTaken`, and changes nothing, if a stack runs there. */
export async function bootStack(options: StackOptions): Promise<Stack> {
  const owned = ownFolder(options.dir)
  try {
    assertOwnUrls(options.own ?? {})
    options.onOwned?.()
    for (let attempt = 1; ; attempt++) {
      try {
        return await bootOnce(options, owned)
      } catch (error) {
        if (!(error instanceof PortTaken) || attempt === attemptsMax) throw error
      }
    }
  } catch (error) {
    owned[Symbol.dispose]()
    throw error
  }
}

/** Maximum number of boots. Losing a chosen port to another process twice is unlikely. */
const attemptsMax = 4

/** Boots once. Throws `PortTaken` after ending everything it started. */
async function bootOnce(options: StackOptions, owned: OwnedFolder): Promise<Stack> {
  const keep: { current: () => void } = { current: () => {} }
  const lost = Promise.withResolvers<never>()
  let isUp = false
  const processes = openProcesses({
    onDeath: (death) => {
      if (!isUp && diedOfItsPort(death.logFile)) lost.reject(new PortTaken(death.name))
      else if (!isUp && diedOfDamage(death)) lost.reject(damagedChain(options.dir))
      else if (!isUp && diedOfItsConfiguration(death)) lost.reject(faultOfConfiguration(death))
      else options.onDeath?.(death)
    },
    onStart: () => keep.current(),
  })
  emptyFolder(join(options.dir, 'logs'))
  removeStackFile(options.dir)
  const listeners = new AsyncDisposableStack()
  const booting = boot(processes, options, { keep, owned, listeners })
  try {
    const either = Promise.race([lost.promise, booting])
    const stack = await unlessStopped(either, options.signal)
    processes.afterwards(() => owned[Symbol.dispose]())
    isUp = true
    return stack
  } catch (error) {
    if (options.signal?.aborted) owned.ending()
    await processes.end()
    await booting.catch(() => {})
    await listeners.disposeAsync()
    throw error
  }
}

type Booting = {
  readonly keep: { current: () => void }
  readonly owned: OwnedFolder
  /** Listeners that close with the stack. The caller closes them if the boot fails. */
  readonly listeners: AsyncDisposableStack
}

async function boot(processes: Processes, options: StackOptions, { keep, owned, listeners }: Booting): Promise<Stack> {
  const { choose: choosePort, moved } = choosing(options)
  const own = options.own ?? {}
  const kept = options.data === 'continue' ? keptToContinue(options.dir, !!own.RPC_URL) : undefined
  if (!kept) discardKept(options.dir)
  const secrets = { ...makeSecrets(own), ...kept?.secrets }
  const { during } = options.progress ?? noProgress
  const wallets = devWallets(10)
  const backbone = await bootDependencies(processes, {
    dir: options.dir,
    choosePort,
    durable: options.durable,
    syncMs: options.syncMs,
    secrets,
    terms: { ...localTerms, ...options.terms },
    wallets,
    own,
    kept,
    leaves: options.data !== undefined,
    cluster: options.cluster,
    ackWaitMs: options.ackWaitMs,
    signal: options.signal,
    ...(options.progress ? { progress: options.progress } : {}),
  })
  const places = await place(backbone, choosePort, options.dir)
  // The sandbox's records of an earlier stack do not match a new database and chain.
  if (!kept) rmSync(places.bookPath, { force: true })
  const gatewayPorts = await portsOfCopies(places, options.copies ?? 1)
  const controls = options.controls ? listeners.use(openControlsListener()) : undefined
  const { rpcUrl: target } = places
  const rpcProxy = options.proxied ? listeners.use(openRpcProxy({ target })) : undefined
  startOwnProcesses(
    processes,
    reached(places, rpcProxy, options),
    secrets,
    controls ? withControls(options, controls) : options,
    gatewayPorts,
    await during('bundling services', currentBundles()),
  )
  const allCopies = async () => {
    const { services = serviceNames, copies = 1 } = options
    const bus = { url: backbone.natsUrl, password: secrets.nats.admin }
    const isThere = async () => (await missingCopies(bus, services, copies)).length === 0
    await processes.until('every instance to join the bus', isThere)
  }
  const areReady = processes.until('every service to be ready', () => ready(places))
  await during('services', areReady)
  if ((options.copies ?? 1) > 1) await allCopies()
  if (options.data) {
    const { deployment, postgresHome } = backbone
    const { postgres, quotes, bankDetailsKeys } = secrets
    const needed = { postgres, quotes, bankDetailsKeys }
    writeKept(options.dir, { secrets: needed, deployment, postgresHome })
  }

  const info = () => ({ ...describe(processes, places, secrets, backbone, wallets), moved })
  keep.current = () => writeStackFile(options.dir, info())
  keep.current()
  controls?.offer(async () => actionsOf(info(), processes.all()))
  return {
    get info() {
      return info()
    },
    dir: options.dir,
    adminUrl: backbone.adminUrl,
    rpcProxy,
    failpointFile: (name) => failpointFile(options.dir, name),
    gateways: gatewayPorts.map(({ http }) => `http://127.0.0.1:${http}`),
    consoles: gatewayPorts.map(({ ops }) => opsOf(ops)),
    process: (name, copy = 1) => processes.get(copyName(name, copy)),
    allCopies,
    provision: backbone.provision,
    [Symbol.asyncDispose]: async () => {
      keep.current = () => {}
      owned.ending()
      removeStackFile(options.dir)
      await processes.end()
      await listeners.disposeAsync()
    },
  }
}

const withControls = (options: StackOptions, { url, token }: Controls): StackOptions => {
  const controlled = { SANDBOX_CONTROLS_URL: url, SANDBOX_CONTROLS_TOKEN: token }
  return { ...options, env: { ...options.env, gateway: { ...controlled, ...options.env?.gateway } } }
}

function reached(
  places: Places,
  rpcProxy: RpcProxy | undefined,
  { rpcPath = '', wire, proxied }: StackOptions,
): Places {
  const first = (rpcProxy?.url ?? places.rpcUrl) + rpcPath
  const rpcUrl = proxied === 'and directly' ? `${first},${places.rpcUrl}` : first
  if (!wire) return { ...places, rpcUrl }
  const { database } = places
  return {
    ...places,
    rpcUrl,
    natsUrl: `nats://${wire('nats', new URL(places.natsUrl).host)}`,
    database: { ...database, host: wire('postgres', database.host) },
  }
}

async function place(backbone: Dependencies, choosePort: ChoosePort<StackPart>, dir: string): Promise<Places> {
  const bookPath = join(dir, 'sandbox.jsonl')
  const gatewayPort = await choosePort('gateway')
  const opsPort = await choosePort('ops')
  const sandboxPort = await choosePort('sandbox')
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

async function portsOfCopies(first: Places, copies: number): Promise<GatewayPorts[]> {
  const ports = [{ http: first.gatewayPort, ops: first.opsPort }]
  while (ports.length < copies) ports.push({ http: await freePort(), ops: await freePort() })
  return ports
}

const opsOf = (port: number) => `http://127.0.0.1:${port}`

/**
 * Returns whether the sandbox and a gateway are ready. It asks the operators' listener, because the public one caches
 * readiness for up to 5 s.
 */
async function ready({ opsPort, sandbox }: Places): Promise<boolean> {
  const isOk = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok
  return (await isOk(`${sandbox}/health`)) && isOk(`${opsOf(opsPort)}/ready`)
}

function describe(
  processes: Processes,
  places: Places,
  secrets: Secrets,
  backbone: Dependencies,
  wallets: DevAccount[],
): StackFile {
  const isService = (one: Supervised) => (serviceNames as readonly string[]).includes(one.name)
  const { ausd, creditLine, treasury } = places.deployment
  return {
    gateway: places.gateway,
    ops: {
      gateway: opsOf(places.opsPort),
      console: `${opsOf(places.opsPort)}/#token=${secrets.console}`,
      databaseUrl: databaseUrlAs('ops', places, secrets),
      natsPassword: secrets.nats.ops,
    },
    sandbox: places.sandbox,
    nats: {
      url: places.natsUrl,
      admin: { user: 'admin', password: secrets.nats.admin },
      integrator: { user: 'integrator', password: secrets.nats.integrator },
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
