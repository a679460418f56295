import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

/** Checks a commit out, which uses the packages installed here. */
export function checkedOut(commit: string): Disposable & { readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'older-'))
  const unpack = 'git archive "$1" | tar -x -C "$2"'
  const { exitCode, stderr } = Bun.spawnSync(['bash', '-ec', unpack, 'bash', commit, dir], {
    cwd: repositoryDir,
  })
  if (exitCode !== 0) throw new Error(`cannot check out ${commit}: ${stderr}`)
  symlinkSync(join(repositoryDir, 'node_modules'), join(dir, 'node_modules'))
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) }
}
