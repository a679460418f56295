import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a temporary folder that Postgres' user can read; disposing it deletes the folder. */
export function benchDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'bench-'))
  chmodSync(path, 0o755)
  mkdirSync(join(path, 'logs'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
