import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

/** Name of a service, or of the command line of operators. */
export type Program = ServiceName | 'ops'

const entryOf = (name: Program): string =>
  name === 'ops' ? 'infra/operations/cli/main.ts' : `services/${name}/main.ts`

/** Returns the path of a program's bundle in a folder. */
export const bundleOf = (dir: string, name: Program): string => join(dir, `${name}.js`)

/**
 * Bundles each program into one file. From sources a service loads some seven hundred files, which is most of its
 * startup: 0.4 to 0.8 s of processor time, against 0.15 to 0.25 s from one file (measured). So a killed instance is
 * back sooner. Pages, styles and external packages are still read from the repository.
 * @throws Error with Bun's output if a program cannot be bundled.
 */
export async function bundlePrograms(into: string, programs: readonly Program[] = serviceNames): Promise<void> {
  mkdirSync(into, { recursive: true })
  for (const name of programs) {
    const { success, logs, outputs } = await Bun.build({
      entrypoints: [join(repositoryDir, entryOf(name))],
      target: 'bun',
      sourcemap: 'linked',
      external: asFiles,
      plugins: [ownFolders],
      outdir: into,
      naming: `${name}.[ext]`,
      throw: false,
    })
    if (!success || outputs.length === 0) throw new Error(`${name} cannot be bundled: ${logs.map(String).join('\n')}`)
  }
}

/** Packages that read files next to their code, so they are not bundled. */
const asFiles = ['tiny-secp256k1', 'swagger-ui-dist']

/** Plugin that replaces `import.meta.dir`, so that a module finds the files next to its source. */
const ownFolders: BunPlugin = {
  name: 'own folders',
  setup: (build) => {
    build.onLoad({ filter: /\/(?:services|shared|infra)\/.*\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      const folder = JSON.stringify(dirname(path))
      return { contents: text.replaceAll('import.meta.dir', folder), loader: 'ts' }
    })
  },
}

const dayMs = 86_400_000
/** Bundles that are made together, and the folders of their sources. */
const sets = {
  services: { programs: serviceNames, folders: ['services', 'shared', 'infra/bundle'] },
  operators: { programs: ['ops'], folders: ['services', 'shared', 'infra'] },
} as const

/** Folder of the bundles. It is in node_modules, where external packages resolve and git and linters do not look. */
const home = join(repositoryDir, 'node_modules/.services')

/**
 * Returns a folder with bundles of the current sources, creating it if needed. Bundles of earlier
 * sources are kept for a day, for stacks that started from them and may restart a service.
 */
export async function currentBundles(set: keyof typeof sets = 'services'): Promise<string> {
  const { programs, folders } = sets[set]
  const dir = join(home, `${set}-${stateOfSources(folders)}`)
  if (existsSync(dir)) return dir
  mkdirSync(home, { recursive: true })
  for (const name of readdirSync(home))
    if (Date.now() - statSync(join(home, name)).mtimeMs > dayMs)
      rmSync(join(home, name), { recursive: true, force: true })
  const draft = mkdtempSync(join(home, 'draft-'))
  await bundlePrograms(draft, programs)
  try {
    renameSync(draft, dir)
  } catch {
    rmSync(draft, { recursive: true, force: true }) // Another process created the bundles first.
  }
  return dir
}

/** Hashes the sources and their location. A bundle contains paths, so another clone cannot use it. */
function stateOfSources(folders: readonly string[]): string {
  const hash = createHash('sha256').update(repositoryDir)
  const update = (path: string) => hash.update(path).update(readFileSync(join(repositoryDir, path)))
  for (const folder of folders)
    for (const name of (readdirSync(join(repositoryDir, folder), { recursive: true }) as string[]).toSorted())
      if (name.endsWith('.ts') && !name.endsWith('.test.ts')) update(join(folder, name))
  for (const path of ['bun.lock', 'package.json', 'tsconfig.json']) update(path)
  return hash.digest('hex').slice(0, 16)
}

if (import.meta.main) {
  const [into] = process.argv.slice(2)
  if (!into) throw new Error('usage: bun infra/bundle/bundle.ts <folder>')
  await bundlePrograms(resolve(into))
}
