import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const packageName = 'ausd-credit-client'

const root = join(import.meta.dir, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Packs the npm package of the client, whose two files `bun run generate client` writes. */
export async function clientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const files = {
    'package/index.js': read('shared/client/client.gen.js'),
    'package/index.d.ts': read('shared/client/client.gen.d.ts'),
    'package/package.json': manifest(),
  }
  return new Bun.Archive(files, { compress: 'gzip' }).bytes()
}

function manifest(): string {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const types = './index.d.ts'
  const main = './index.js'
  return JSON.stringify({
    name: packageName,
    version,
    type: 'module',
    main,
    types,
    exports: { '.': { types, default: main }, './package.json': './package.json' },
    sideEffects: false,
    peerDependencies: { viem: '>=2.0.0' },
  })
}
