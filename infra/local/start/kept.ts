import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeployedContracts } from '#infra/contracts/deploy'
import { keptChainDir } from '#infra/local/chain'
import { hasSnapshot } from '#infra/local/chain/files'
import type { Secrets } from '#infra/local/environment'
import { StartFault } from './faults'

/**
 * `leave`: starts fresh, leaves its data in the folder. `continue`: uses the last run's data. Undefined: the
 * data ends with the stack.
 */
export type DataPlan = 'leave' | 'continue' | undefined

export type Kept = {
  /** Stored rows depend on these; all others are new at each start. */
  readonly secrets: Pick<Secrets, 'postgres' | 'quotes' | 'bankDetailsKeys'>
  readonly deployment: DeployedContracts
  readonly postgresHome: string | undefined
}

const keptPath = (dir: string) => join(dir, 'kept.json')

export function readKept(dir: string): Kept | undefined {
  try {
    const { deployBlock, ...kept } = JSON.parse(readFileSync(keptPath(dir), 'utf8'))
    kept.deployment.deployBlock = BigInt(deployBlock)
    return kept as Kept
  } catch {
    return undefined
  }
}

/** Only its owner can read it: it contains keys. */
export function writeKept(dir: string, kept: Kept): void {
  const draft = `${keptPath(dir)}.draft`
  const { deployBlock, ...deployment } = kept.deployment
  const content = { ...kept, deployment, deployBlock: deployBlock.toString() }
  writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  renameSync(draft, keptPath(dir))
}

export function discardKept(dir: string): void {
  const home = readKept(dir)?.postgresHome
  if (home) rmSync(home, { recursive: true, force: true })
  rmSync(keptPath(dir), { force: true })
  rmSync(keptChainDir(dir), { recursive: true, force: true })
}

const fresh = 'Start without --keep to discard the old data'

export const damagedChain = (dir: string) =>
  new StartFault(`the saved chain in ${keptChainDir(dir)} is damaged`, `${fresh}.`)

export function keptToContinue(dir: string, ownChain: boolean): Kept | undefined {
  const kept = readKept(dir)
  if (!kept) return undefined
  if (!ownChain && !hasSnapshot(keptChainDir(dir)))
    throw new StartFault(`the chain of the last run is missing in ${keptChainDir(dir)}`, `${fresh}.`)
  const { postgresHome } = kept
  if (postgresHome && !existsSync(join(postgresHome, 'data/PG_VERSION')))
    throw new StartFault(`the database of the last run is missing in ${postgresHome}`, `${fresh}.`)
  return kept
}
