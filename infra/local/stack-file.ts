import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DevAccount } from '#infra/local/keys'
import { isAbandoned } from '#infra/local/start/folder-owner'

/** What has a well-known port. */
export type Part = 'gateway' | 'ops' | 'sandbox' | 'nats' | 'monitor' | 'postgres' | 'chain'

/** What tools and tests need to know of a running stack: `.local/stack.json`. */
export type StackFile = {
  gateway: string
  /**
   * For operators: the listener with `/metrics` and `/ready`, their role at Postgres, their user of
   * NATS; `console` is the page with its token behind a `#`, which browsers send to nobody.
   */
  ops: { gateway: string; console: string; databaseUrl: string; natsPassword: string }
  sandbox: string
  nats: { url: string; admin: { user: string; password: string }; monitor: string }
  postgres: { url: string }
  chain: { rpcUrl: string; chainId: number; ausd: string; creditLine: string; treasury: string }
  webhooks: { payments: { ID: string; MY: string }; identity: { secret: string } }
  provider: { ID: { secretKey: string }; MY: { secretKey: string } }
  accounts: DevAccount[]
  services: Record<string, { pid: number }>
  /** The well-known ports that others had when it began, by what moved to another. */
  moved?: Partial<Record<Part, number>>
}

export const stackFilePath = (dir: string) => join(dir, 'stack.json')

/** Replaced whole, so that a reader never meets half a file; readable by its owner alone. */
export function writeStackFile(dir: string, content: StackFile): void {
  const draft = `${stackFilePath(dir)}.draft`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, stackFilePath(dir))
}

export const removeStackFile = (dir: string) => rmSync(stackFilePath(dir), { force: true })

/** Reads the running stack's file; throws with advice when there is none, or one that was left behind. */
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
