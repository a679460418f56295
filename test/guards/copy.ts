import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { textOf } from './marks'
import { withoutGuards } from './mutants'

/** Files that the suites of any service read. */
const parts = ['services', 'shared', 'infra', 'test', 'package.json', 'tsconfig.json', 'bunfig.toml', 'bun.lock']

export type Copy = Disposable & { readonly dir: string; readonly tmp: string }

/** Opens a copy of the sources, whose folder Postgres' user can enter. */
export function openCopy(): Copy {
  const home = mkdtempSync(join(tmpdir(), 'guards-'))
  const [dir, tmp] = [join(home, 'sources'), join(home, 'tmp')]
  for (const folder of [dir, tmp]) mkdirSync(folder)
  for (const folder of [home, dir, tmp]) chmodSync(folder, 0o755)
  const isOurs = (path: string) => !basename(path).startsWith('.local')
  for (const part of parts) cpSync(join(repositoryDir, part), join(dir, part), { recursive: true, filter: isOurs })
  symlinkSync(join(repositoryDir, 'node_modules'), join(dir, 'node_modules'))
  const remove = () => rmSync(home, { recursive: true, force: true })
  process.once('exit', remove)
  return { dir, tmp, [Symbol.dispose]: remove }
}

/** Takes these guards out of the copy, until the result is disposed of. */
export async function takeOut({ dir, tmp }: Copy, guards: readonly string[]): Promise<Disposable> {
  const texts = withoutGuards(guards, dir)
  const before = new Map<string, string>()
  const keep = (file: string) => before.set(file, textOf(file, dir))
  const clusters = clustersIn(tmp)
  const putBack = () => {
    for (const [file, text] of before) writeFileSync(join(dir, file), text)
    // A cluster with other migrations is useless.
    for (const one of clustersIn(tmp)) if (!clusters.has(one)) rmSync(one, { recursive: true })
  }
  try {
    for (const [file, text] of texts) {
      keep(file)
      writeFileSync(join(dir, file), text)
    }
    for (const { of, files, command } of generators) {
      if (![...texts.keys()].some((file) => file.startsWith(of))) continue
      files.forEach(keep)
      await generate(dir, command)
    }
  } catch (error) {
    putBack()
    throw error
  }
  return { [Symbol.dispose]: putBack }
}

const clustersIn = (tmp: string): ReadonlySet<string> =>
  new Set(
    readdirSync(tmp)
      .filter((name) => name.startsWith('suite-postgres-'))
      .map((name) => join(tmp, name)),
  )

/** Generators, which run again when one of their sources has changed. */
const generators = [
  {
    of: 'infra/contracts/src/',
    files: ['infra/contracts/artifacts.gen.ts', 'shared/chain/ausd-abi.gen.ts', 'shared/chain/credit-line-abi.gen.ts'],
    command: ['infra/contracts/compile.ts'],
  },
  {
    of: 'infra/nats/',
    files: ['infra/nats/users.gen.conf'],
    command: ['infra/generate.ts', 'permissions'],
  },
]

async function generate(dir: string, command: readonly string[]): Promise<void> {
  const run = Bun.spawn([process.execPath, ...command], {
    cwd: dir,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await new Response(run.stderr).text()
  if ((await run.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${said}`)
}
