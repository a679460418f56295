import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

/** Defects whose patches are in `test/simulation/canaries`. */
export const canaries = ['outbox', 'relayer', 'payouts'] as const
export type Canary = (typeof canaries)[number]

export type Copy = Disposable & {
  readonly dir: string
  readonly apply: (canary: Canary) => void
  readonly takeBack: (canary: Canary) => void
  readonly run: (...words: string[]) => Promise<{ code: number; out: string }>
}

const folders = ['services', 'shared', 'infra', 'test']
const files = ['package.json', 'bun.lock', 'bunfig.toml', 'tsconfig.json']

export function copySources(): Copy {
  const dir = mkdtempSync(join(tmpdir(), 'canary-'))
  for (const part of [...folders, ...files]) cpSync(join(repositoryDir, part), join(dir, part), { recursive: true })
  symlinkSync(join(repositoryDir, 'node_modules'), join(dir, 'node_modules'))
  const patch = (canary: Canary, ...options: string[]) => {
    const file = join(repositoryDir, 'test/simulation/canaries', `${canary}.patch`)
    const { success, stderr } = Bun.spawnSync(['git', 'apply', ...options, file], { cwd: dir })
    if (!success) throw new Error(`the patch of canary ${canary} does not apply: ${stderr}`)
  }
  return {
    dir,
    apply: (canary) => patch(canary),
    takeBack: (canary) => patch(canary, '--reverse'),
    run: async (...words) => {
      const command = [process.execPath, ...words]
      const run = Bun.spawn(command, { cwd: dir, stdout: 'pipe', stderr: 'inherit' })
      const out = await new Response(run.stdout).text()
      return { code: await run.exited, out }
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}
