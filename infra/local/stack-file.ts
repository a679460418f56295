import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import type { DevAccount } from '#infra/local/keys'
import { bunRun } from '#infra/local/start/command'
import { isAbandoned } from '#infra/local/start/folder-owner'

export type StackPart = 'gateway' | 'ops' | 'sandbox' | 'nats' | 'monitor' | 'postgres' | 'chain'

/** Content of `.local/stack.json`, for tools and tests. */
export type StackFile = {
  gateway: string
  /**
   * Addresses and credentials of operators. The URL `console` has its token after a `#`, which browsers do not send.
   */
  ops: { gateway: string; console: string; databaseUrl: string; natsPassword: string }
  sandbox: string
  nats: {
    url: string
    admin: { user: string; password: string }
    integrator: { user: string; password: string }
    monitor: string
  }
  postgres: { url: string }
  chain: { rpcUrl: string; chainId: number; ausd: string; creditLine: string; treasury: string }
  webhooks: { payments: { ID: string; MY: string }; identity: { secret: string } }
  provider: { ID: { secretKey: string }; MY: { secretKey: string } }
  accounts: DevAccount[]
  services: Record<string, { pid: number }>
  /** Well-known ports that were taken, by the part that uses another one. */
  moved?: Partial<Record<StackPart, number>>
}

/** Returns the stack in LOCAL_DIR, or in the usual folder. */
export const runningStack = (env: NodeJS.ProcessEnv = process.env): StackFile =>
  readStackFile(resolve(env.LOCAL_DIR || join(repositoryDir, '.local')))

export const stackFilePath = (dir: string) => join(dir, 'stack.json')

/** Writes the file atomically, so that no reader sees half of it. Only its owner can read it. */
export function writeStackFile(dir: string, content: StackFile): void {
  const draft = `${stackFilePath(dir)}.draft`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, stackFilePath(dir))
}

export const removeStackFile = (dir: string) => rmSync(stackFilePath(dir), { force: true })

export function readStackFile(dir: string): StackFile {
  const file = parsedFile(dir)
  if (!file || isAbandoned(dir)) throw new Error(`no stack is running in ${dir}: start one with \`${bunRun} start\``)
  return file
}

function parsedFile(dir: string): StackFile | undefined {
  try {
    return JSON.parse(readFileSync(stackFilePath(dir), 'utf8')) as StackFile
  } catch {
    return undefined
  }
}
