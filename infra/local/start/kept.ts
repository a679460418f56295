import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from '#infra/contracts/deploy'
import { saveState } from '#infra/local/chain/keep'
import type { Secrets } from '#infra/local/environment'
import { StartFault } from './faults'

/**
 * What becomes of a stack's data. `leave`: it begins anew, and leaves its data in the folder. `continue`:
 * it goes on with what the last start left there. Without either the data is gone with the stack.
 */
export type DataPlan = 'leave' | 'continue' | undefined

/** What a stack leaves beside its rows, its streams and its chain. */
export type Kept = {
  /** Those that rows depend on; all others are new at each start. */
  readonly secrets: Pick<Secrets, 'postgres' | 'quotes' | 'bankDetailsKeys'>
  readonly deployment: Deployment
  /** All that its Postgres wrote; as root it may lie outside of the folder. */
  readonly postgresHome: string | undefined
}

const keptPath = (dir: string) => join(dir, 'kept.json')
/** The chain is in memory: this is what was last written of it. */
export const chainStatePath = (dir: string) => join(dir, 'chain.json')

/** What the last start left in the folder, if anything. */
export function readKept(dir: string): Kept | undefined {
  try {
    const { deployBlock, ...kept } = JSON.parse(readFileSync(keptPath(dir), 'utf8'))
    kept.deployment.deployBlock = BigInt(deployBlock)
    return kept as Kept
  } catch {
    return undefined
  }
}

/** Written when the stack is ready; readable by its owner alone, as there are keys in it. */
export function writeKept(dir: string, kept: Kept): void {
  const draft = `${keptPath(dir)}.draft`
  const { deployBlock, ...deployment } = kept.deployment
  const content = { ...kept, deployment, deployBlock: deployBlock.toString() }
  writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  renameSync(draft, keptPath(dir))
}

/** Removes what the last start left: Postgres, and what says where everything was. */
export function discardKept(dir: string): void {
  const home = readKept(dir)?.postgresHome
  if (home) rmSync(home, { recursive: true, force: true })
  for (const path of [keptPath(dir), chainStatePath(dir)]) rmSync(path, { force: true })
}

const anew = 'start without --keep to begin anew'

/** What was written of the chain is there, and no chain goes on from it. */
export const damagedChain = (dir: string) =>
  new StartFault(`the chain that was written down in ${chainStatePath(dir)} is damaged`, anew)

/** What a start goes on with; throws `StartFault` when it cannot, and removes nothing. */
export function keptToContinue(dir: string, ownChain: boolean): Kept | undefined {
  const kept = readKept(dir)
  if (!kept) return undefined
  if (!ownChain && !existsSync(chainStatePath(dir)))
    throw new StartFault(
      `the last run in ${dir} was killed before its chain was written down`,
      `${anew}; with --keep it is written down every few seconds`,
    )
  const { postgresHome } = kept
  if (postgresHome && !existsSync(join(postgresHome, 'data/PG_VERSION')))
    throw new StartFault(`the database of the last run is gone from ${postgresHome}`, anew)
  return kept
}

/** Writes the chain down at an orderly end, when nobody adds to it any more. */
export const keepChain = (rpcUrl: string, dir: string): Promise<void> =>
  saveState(rpcUrl, chainStatePath(dir))
