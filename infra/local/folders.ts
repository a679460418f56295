import { chmodSync, constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const repositoryDir = dirname(dirname(import.meta.dir))

/** User id of `nobody`, which exists everywhere and owns nothing. Postgres refuses to run as root. */
export const nobodyUid = 65_534
export const asRoot = process.getuid?.() === 0

/** Returns whether `nobody` can reach a path. False for most paths in root's home. */
export function openToNobody(path: string): boolean {
  for (let step = path; ; step = dirname(step)) {
    if ((statSync(step).mode & constants.S_IXOTH) === 0) return false
    if (step === dirname(step)) return true
  }
}

export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  return path
}

/** Returns `source`, or a copy in the temporary folder if `nobody` cannot reach it. */
export async function reachableCopy(source: string, name: string): Promise<string> {
  if (!asRoot || openToNobody(source)) return source
  const copy = join(tmpdir(), name)
  if (existsSync(copy)) return copy
  const draft = mkdtempSync(`${copy}-`)
  await cp(source, draft, { recursive: true, verbatimSymlinks: true })
  chmodSync(draft, 0o755)
  try {
    renameSync(draft, copy)
  } catch {
    rmSync(draft, { recursive: true, force: true }) // Another stack copied it first.
  }
  return copy
}
