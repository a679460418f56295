import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DevAccount } from '#infra/local/keys'

/** What tools and tests need to know of a running stack: `.local/stack.json`. */
export type StackFile = {
  gateway: string
  /** Listeners for operators: `/metrics`, and who is missing in `/ready`. */
  ops: { gateway: string }
  sandbox: string
  nats: { url: string; admin: { user: string; password: string }; monitor: string }
  postgres: { url: string }
  chain: { rpcUrl: string; chainId: number; ausd: string; creditLine: string; treasury: string }
  webhooks: { payments: { ID: string; MY: string }; identity: { secret: string } }
  provider: { ID: { secretKey: string }; MY: { secretKey: string } }
  accounts: DevAccount[]
  services: Record<string, { pid: number }>
}

export const stackFilePath = (dir: string) => join(dir, 'stack.json')

/** Replaced whole, so that a reader never meets half a file; readable by its owner alone. */
export function writeStackFile(dir: string, content: StackFile): void {
  const draft = `${stackFilePath(dir)}.draft`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, stackFilePath(dir))
}

export const removeStackFile = (dir: string) => rmSync(stackFilePath(dir), { force: true })

/** Reads the running stack's file; throws with advice when there is none. */
export function readStackFile(dir: string): StackFile {
  try {
    return JSON.parse(readFileSync(stackFilePath(dir), 'utf8')) as StackFile
  } catch {
    throw new Error(`no stack is running in ${dir}: start one with \`bun run start\``)
  }
}
