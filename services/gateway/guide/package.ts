import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const packageName = 'ausd-credit-client'

const root = join(import.meta.dir, '../../..')
const entry = 'shared/client/client'
/** Import aliases of package.json. */
const folders = { shared: 'shared', platform: 'shared/platform' } as const
const transpiler = new Bun.Transpiler({ loader: 'ts', target: 'browser' })

/** Builds the npm package of the client: JavaScript to run, and TypeScript for its types. */
export async function clientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const modules = modulesFrom(entry)
  const files = [...modules].flatMap(([name, text]) => [
    [`package/${name}.ts`, text],
    [`package/${name}.js`, transpiler.transformSync(text)],
  ])
  const archive = new Bun.Archive(
    { ...Object.fromEntries(files), 'package/package.json': manifest() },
    { compress: 'gzip' },
  )
  return archive.bytes()
}

/** Returns the modules that `entry` needs, type imports included. */
function modulesFrom(entry: string): Map<string, string> {
  const found = new Map<string, string>()
  const open = [entry]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    const text = readFileSync(join(root, `${name}.ts`), 'utf8')
    found.set(name, text)
    open.push(
      ...[...text.matchAll(/ from '#(shared|platform)\/([^']+)'/g)].map(
        ([, folder, path]) => `${folders[folder as keyof typeof folders]}/${path}`,
      ),
    )
  }
  return found
}

type Manifest = { version: string; dependencies: Record<string, string> }

function manifest(): string {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const both = (path: string) => ({ types: `${path}.ts`, default: `${path}.js` })
  const { typebox } = own.dependencies
  return JSON.stringify({
    name: packageName,
    version: own.version,
    type: 'module',
    exports: both(`./${entry}`),
    imports: {
      '#platform/*': both(`./${folders.platform}/*`),
      '#shared/*': both(`./${folders.shared}/*`),
    },
    dependencies: { typebox },
    peerDependencies: { viem: '>=2.0.0' },
  })
}
