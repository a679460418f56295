import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DevAccount } from '#infra/local/keys'
import { isAbandoned } from '#infra/local/start/folder-owner'

/** Part of a stack with a well-known port. */
export type StackPart = 'gateway' | 'ops' | 'sandbox' | 'nats' | 'monitor' | 'postgres' | 'chain'

/** Addresses and credentials of a running stack, for tools and tests: `.local/stack.json`. */
export type StackFile = {
  gateway: string
  /**
   * Access for operators: the listener with `/metrics` and `/ready`, the Postgres role and the NATS
   * user. `console` is the page with its token after a `#`, which browsers do not send.
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
  /** Well-known ports that were taken at the start, by the part that moved to another port. */
  moved?: Partial<Record<StackPart, number>>
}

export const stackFilePath = (dir: string) => join(dir, 'stack.json')

/** Replaces the file atomically, so that no reader sees half of it; only its owner can read it. */
export function writeStackFile(dir: string, content: StackFile): void {
  const draft = `${stackFilePath(dir)}.draft`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, stackFilePath(dir))
}

export const removeStackFile = (dir: string) => rmSync(stackFilePath(dir), { force: true })

/** Reads the running stack's file; throws, with advice, if there is none or it is stale. */
export function readStackFile(dir: string): StackFile {
  const file = parsedFile(dir)
  if (!file || isAbandoned(dir))
    throw new Error(`no stack is running in ${dir}: start one with \`bun run start\``)
  return file
}

function parsedFile(dir: string): StackFile | undefined {
  try {
    return JSON.parse(readFileSync(stackFilePath(dir), 'utf8')) as StackFile
  } catch {
    return undefined
  }
}
