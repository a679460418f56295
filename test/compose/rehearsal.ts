import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { environmentOf, localStack, localVariables, wordsOf } from '#infra/compose/composition'
import { composeStackFile } from '#infra/compose/stack-file'
import { type Child, type Command, startChild } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { planNats } from '#infra/local/nats'
import { freePort } from '#infra/local/ports'
import { planPostgres } from '#infra/local/postgres'
import type { StackFile } from '#infra/local/stack-file'
import { type NatsUser, natsUsers } from '#infra/nats/server-environment'
import { copiesOf, isSent, servicesStage } from './dockerfile'

export type Rehearsal = AsyncDisposable & {
  readonly gateway: string
  /** The content of the stack file for these ports. */
  readonly stack: StackFile
  readonly natsMonitor: string
  readonly rpcUrl: string
  readonly databaseUrl: string
  readonly dir: string
  /** Starts a process with exactly the service's environment. */
  readonly start: (service: string) => Child
  /** Runs a command as `docker compose exec` does. */
  readonly exec: (service: string, words: readonly string[]) => Promise<string>
}

const variables = localVariables()
const { services } = localStack()

async function placesIn(dir: string) {
  const [gateway, ops, sandbox, nats, monitor, postgres, chain] = await Promise.all(
    Array.from({ length: 7 }, () => freePort()),
  )
  const at = (port: number | undefined) => `127.0.0.1:${port}`
  return {
    ports: { gateway, sandbox, nats, monitor, postgres, chain },
    moves: new Map([
      ...['gateway:3000', '127.0.0.1:3000'].map((name) => [name, at(gateway)] as const),
      ...['sandbox:3100', '127.0.0.1:3100'].map((name) => [name, at(sandbox)] as const),
      ['nats:4222', at(nats)],
      ['127.0.0.1:8222', at(monitor)],
      ['postgres:5432', at(postgres)],
      ['chain:8545', at(chain)],
      ['0.0.0.0', '127.0.0.1'],
      ['/etc/nats', join(repositoryDir, 'infra/nats')],
      ['127.0.0.1:8545', at(chain)],
      ['/data', join(dir, 'data')],
    ]),
    /** Values that are nothing but a port. */
    wholes: new Map([
      ['3000', String(gateway)],
      ['3001', String(ops)],
      ['3100', String(sandbox)],
      ['4222', String(nats)],
      ['8545', String(chain)],
    ]),
  }
}
type MovedPlaces = Awaited<ReturnType<typeof placesIn>>

/** Moves ports and paths in one pass, so that replacements are not replaced again. */
function moved(value: string, { moves, wholes }: MovedPlaces): string {
  const names = [...moves.keys()].map((name) => name.replaceAll(/[.]/g, '\\.')).join('|')
  const found = new RegExp(`(?<![\\w.-])(${names})(?![\\w-])`, 'g')
  return wholes.get(value) ?? value.replaceAll(found, (name) => moves.get(name)!)
}

/** Lays out the image by the Dockerfile's COPY and RUN. */
function layImage(app: string) {
  mkdirSync(app)
  const image = servicesStage()
  for (const { sources } of copiesOf(image)) {
    for (const source of sources.map((path) => path.replace(/^\.\//, ''))) {
      cpSync(join(repositoryDir, source), join(app, source), {
        recursive: true,
        filter: (path) => isSent(relative(repositoryDir, path)),
      })
    }
  }
  symlinkSync(join(repositoryDir, 'node_modules'), join(app, 'node_modules'))
  for (const { word, rest } of image.instructions) {
    if (word !== 'RUN' || !rest.startsWith('bun ')) continue
    const run = Bun.spawnSync([process.execPath, ...rest.split(' ').slice(1)], { cwd: app })
    if (run.exitCode !== 0) throw new Error(`RUN ${rest} failed: ${run.stderr}`)
  }
}

function programsHere(dir: string): ReadonlyMap<string, string> {
  const passwords = Object.fromEntries(natsUsers.map((user) => [user, '']))
  const nats = { dir, port: 1, monitorPort: 1, passwords: passwords as Record<NatsUser, string> }
  return new Map([
    ['bun', process.execPath],
    ['nats-server', planNats(nats).bin],
  ])
}

/** Prepares a rehearsal without starting anything. */
export async function rehearse(): Promise<Rehearsal> {
  const dir = mkdtempSync(join(tmpdir(), 'compose-'))
  for (const name of ['logs', 'data']) mkdirSync(join(dir, name))
  layImage(join(dir, 'app'))
  const places = await placesIn(dir)
  const { ports } = places
  const programs = programsHere(dir)
  const postgresPlan = await planPostgres({
    dir,
    port: ports.postgres!,
    password: variables.POSTGRES_PASSWORD!,
    durable: false,
  })
  const children: Child[] = []
  const run = (command: Command) => {
    const child = startChild(command)
    children.push(child)
    return child
  }
  const commandOf = (name: string, words: readonly string[]): Command => {
    // Every container has its own /tmp.
    const own = (text: string) => text.replaceAll('/tmp/alive', join(dir, `alive-${name}`))
    const [program = '', ...args] = words.map((word) => moved(own(word), places))
    const env = Object.entries(environmentOf(services[name]!, variables))
    return {
      name,
      bin: programs.get(program) ?? program,
      args: args.map((word) => (/\.[jt]s$/.test(word) ? join(dir, 'app', word) : word)),
      env: Object.fromEntries(env.map(([key, value]) => [key, moved(own(value), places)])),
      logFile: join(dir, `logs/${name}.log`),
    }
  }
  const at = (port: number | undefined) => `http://127.0.0.1:${port}`
  return {
    dir,
    gateway: at(ports.gateway),
    stack: composeStackFile({
      GATEWAY_PORT: String(ports.gateway),
      SANDBOX_PORT: String(ports.sandbox),
      CHAIN_PORT: String(ports.chain),
    }),
    natsMonitor: at(ports.monitor),
    rpcUrl: at(ports.chain),
    databaseUrl: postgresPlan.adminUrl,
    start: (name) => {
      if (name === 'postgres') return run(postgresPlan.command)
      const { entrypoint, command } = services[name]!
      return run(commandOf(name, wordsOf([...(entrypoint ?? []), ...(command ?? [])], variables)))
    },
    exec: (name, words) => run(commandOf(name, words)).exited,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(children.toReversed().map((child) => child.end('SIGINT')))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
