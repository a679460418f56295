import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

/** A service, or the command line of operators. */
export type Program = ServiceName | 'ops'

const entryOf = (name: Program): string =>
  name === 'ops' ? 'infra/ops/main.ts' : `services/${name}/main.ts`

/** The file of a program in a folder of bundles. */
export const bundleOf = (dir: string, name: Program): string => join(dir, `${name}.js`)

/**
 * Writes each service as one file. A service loads some seven hundred files otherwise, which is most of
 * what its start takes: 0.4 to 0.8 s of processor time, and 0.15 to 0.25 s from one file (measured), so
 * that a copy that was killed is back sooner. The sources stay where they are: pages, styles and the
 * packages that are external are read from there.
 * @throws Error with what Bun says when a service cannot be bundled.
 */
export async function bundlePrograms(
  into: string,
  programs: readonly Program[] = serviceNames,
): Promise<void> {
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
    if (!success || outputs.length === 0)
      throw new Error(`${name} cannot be bundled: ${logs.map(String).join('\n')}`)
  }
}

/** Packages that read files of their own, beside their code. */
const asFiles = ['tiny-secp256k1', 'swagger-ui-dist']

/** A module that reads files beside it finds them beside its source. */
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
/** Within node_modules: from there the external packages are found, and git and linters look away. */
const home = join(repositoryDir, 'node_modules/.services')

/**
 * A folder with the services as their sources are now; made when there is none yet. Those of earlier
 * sources are kept for a day: whoever started from them may start them again.
 */
export async function currentBundles(): Promise<string> {
  const dir = join(home, stateOfSources())
  if (existsSync(dir)) return dir
  mkdirSync(home, { recursive: true })
  for (const name of readdirSync(home))
    if (Date.now() - statSync(join(home, name)).mtimeMs > dayMs)
      rmSync(join(home, name), { recursive: true, force: true })
  const draft = mkdtempSync(join(home, 'draft-'))
  await bundlePrograms(draft, [...serviceNames, 'ops'])
  try {
    renameSync(draft, dir)
  } catch {
    rmSync(draft, { recursive: true, force: true }) // Another process made it first.
  }
  return dir
}

/** Of the sources and of where they are: a bundle names its folders, so it serves no other copy. */
function stateOfSources(): string {
  const hash = createHash('sha256').update(repositoryDir)
  const update = (path: string) => hash.update(path).update(readFileSync(join(repositoryDir, path)))
  for (const folder of ['services', 'shared', 'infra'])
    for (const name of (
      readdirSync(join(repositoryDir, folder), { recursive: true }) as string[]
    ).toSorted())
      if (name.endsWith('.ts') && !name.endsWith('.test.ts')) update(join(folder, name))
  for (const path of ['bun.lock', 'package.json', 'tsconfig.json']) update(path)
  return hash.digest('hex').slice(0, 16)
}

if (import.meta.main) {
  const [into] = process.argv.slice(2)
  if (!into) throw new Error('usage: bun infra/bundle/bundle.ts <folder>')
  await bundlePrograms(resolve(into))
}
