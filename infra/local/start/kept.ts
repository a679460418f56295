import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from '#infra/contracts/deploy'
import { saveState } from '#infra/local/chain/keep'
import type { Secrets } from '#infra/local/environment'
import { StartFault } from './faults'

/**
 * Handling of a stack's data. `leave`: starts fresh and leaves its data in the folder. `continue`:
 * continues with the data that the last run left there. Undefined: the data ends with the stack.
 */
export type DataPlan = 'leave' | 'continue' | undefined

/** Data that a stack leaves in addition to its rows, streams and chain. */
export type Kept = {
  /** Secrets that stored rows depend on; all others are new at each start. */
  readonly secrets: Pick<Secrets, 'postgres' | 'quotes' | 'bankDetailsKeys'>
  readonly deployment: Deployment
  /** Folder of its Postgres data; when run as root it may lie outside the stack's folder. */
  readonly postgresHome: string | undefined
}

const keptPath = (dir: string) => join(dir, 'kept.json')
/** Path of the last snapshot of the chain, which runs in memory. */
export const chainStatePath = (dir: string) => join(dir, 'chain.json')

/** Reads the data that the last run left in the folder; undefined if there is none. */
export function readKept(dir: string): Kept | undefined {
  try {
    const { deployBlock, ...kept } = JSON.parse(readFileSync(keptPath(dir), 'utf8'))
    kept.deployment.deployBlock = BigInt(deployBlock)
    return kept as Kept
  } catch {
    return undefined
  }
}

/**
 * Writes the file once the stack is ready; only its owner can read it, because it contains keys.
 */
export function writeKept(dir: string, kept: Kept): void {
  const draft = `${keptPath(dir)}.draft`
  const { deployBlock, ...deployment } = kept.deployment
  const content = { ...kept, deployment, deployBlock: deployBlock.toString() }
  writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  renameSync(draft, keptPath(dir))
}

/** Removes the data of the last run: Postgres, chain snapshot and `kept.json`. */
export function discardKept(dir: string): void {
  const home = readKept(dir)?.postgresHome
  if (home) rmSync(home, { recursive: true, force: true })
  for (const path of [keptPath(dir), chainStatePath(dir)]) rmSync(path, { force: true })
}

const fresh = 'Start without --keep to discard the old data'

/** Fault of a chain snapshot that anvil cannot load. */
export const damagedChain = (dir: string) =>
  new StartFault(`the saved chain in ${chainStatePath(dir)} is damaged`, `${fresh}.`)

/**
 * Returns the data to continue with; throws `StartFault` if it is incomplete, and removes nothing.
 */
export function keptToContinue(dir: string, ownChain: boolean): Kept | undefined {
  const kept = readKept(dir)
  if (!kept) return undefined
  if (!ownChain && !existsSync(chainStatePath(dir)))
    throw new StartFault(
      `the last run in ${dir} was killed before its chain was saved`,
      `${fresh}; with --keep, the chain is saved every few seconds.`,
    )
  const { postgresHome } = kept
  if (postgresHome && !existsSync(join(postgresHome, 'data/PG_VERSION')))
    throw new StartFault(`the database of the last run is missing in ${postgresHome}`, `${fresh}.`)
  return kept
}

/** Saves the chain at an orderly end, when nothing sends transactions any more. */
export const keepChain = (rpcUrl: string, dir: string): Promise<void> =>
  saveState(rpcUrl, chainStatePath(dir))
