import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Every file that a program loads, itself included, and every package it names. */
export type Loaded = { files: Set<string>; packages: Set<string> }

const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** Follows the imports of programs, paths from `root`. Types alone are not loaded, so not followed. */
export function loadedBy(root: string, entries: readonly string[]): Loaded {
  const loaded: Loaded = { files: new Set(), packages: new Set() }
  const visit = (file: string) => {
    if (loaded.files.has(file)) return
    loaded.files.add(file)
    for (const { path } of transpiler.scanImports(readFileSync(join(root, file), 'utf8'))) {
      const own = ownFile(file, path)
      if (own) visit(own)
      else if (!/^(node:|bun)/.test(path)) loaded.packages.add(packageOf(path))
    }
  }
  for (const entry of entries) visit(entry)
  return loaded
}

function ownFile(from: string, path: string): string | undefined {
  const bare = path.startsWith('#')
    ? path.slice(1)
    : path.startsWith('.')
      ? normalize(join(dirname(from), path))
      : undefined
  return bare === undefined || bare.endsWith('.ts') ? bare : `${bare}.ts`
}

const packageOf = (path: string) =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/')
