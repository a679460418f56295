import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder that Postgres' user can read. */
export function benchDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'bench-'))
  chmodSync(path, 0o755)
  mkdirSync(join(path, 'logs'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
