import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export type Reached = { files: Set<string>; packages: Set<string> }

export type Reading = (source: string) => string[]

const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** Reads the modules that a source loads at run time, without type imports. */
export const loads: Reading = (source) => transpiler.scanImports(source).map(({ path }) => path)

const statement = /^(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?'([^'\n]+)'|\bimport\(\s*'([^'\n]+)'\s*\)/gm

export const names: Reading = (source) => [...source.matchAll(statement)].map(([, from, dynamic]) => from ?? dynamic!)

/** Returns the imports of a file, as paths from `root`. */
export function importsOf(root: string, file: string, reading: Reading) {
  const files: string[] = []
  const packages: string[] = []
  for (const path of reading(readFileSync(join(root, file), 'utf8'))) {
    const own = ownFile(file, path)
    if (own) files.push(own)
    else if (!/^(node:|bun)/.test(path)) packages.push(packageOf(path))
  }
  return { files, packages }
}

const named = /^import \{([^}]*)\} from '([^'\n]+)'/gm

/** Returns the values that a file imports by name from our files, with the file of each. */
export const namedImports = (file: string, source: string): { readonly file: string; readonly name: string }[] =>
  [...source.matchAll(named)].flatMap(([, list = '', path = '']) => {
    const from = ownFile(file, path)
    const names = list.split(',').map((one) => one.trim().replace(/ as \w+$/, ''))
    return from ? names.filter((one) => /^\w+$/.test(one)).map((name) => ({ file: from, name })) : []
  })

/** Follows imports; throws on a missing file. */
export function reachedFrom(root: string, entries: readonly string[], reading: Reading): Reached {
  const reached: Reached = { files: new Set(), packages: new Set() }
  const visit = (file: string) => {
    if (reached.files.has(file)) return
    if (!existsSync(join(root, file))) throw new Error(`there is no file ${file}`)
    reached.files.add(file)
    const { files, packages } = importsOf(root, file, reading)
    for (const name of packages) reached.packages.add(name)
    files.forEach(visit)
  }
  entries.forEach(visit)
  return reached
}

/** Returns groups of files that all reach each other. */
export function circlesAmong(root: string, files: readonly string[], reading: Reading): string[][] {
  const importsAmong = new Map(files.map((file) => [file, importsOf(root, file, reading).files]))
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  // The search is Tarjan's for strongly connected components.
  const visit = (file: string) => {
    order.set(file, order.size)
    lowest.set(file, order.get(file)!)
    open.push(file)
    const next = importsAmong.get(file) ?? []
    for (const other of next) {
      if (!importsAmong.has(other)) continue
      if (!order.has(other)) visit(other)
      if (open.includes(other)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(other)!))
    }
    if (lowest.get(file) !== order.get(file)) return
    const circle = open.splice(open.indexOf(file))
    if (circle.length > 1 || next.includes(file)) circles.push(circle.sort())
  }
  for (const file of files) if (!order.has(file)) visit(file)
  return circles
}

function ownFile(from: string, path: string): string | undefined {
  const bare = path.startsWith('#')
    ? path.slice(1).replace(/^platform\//, 'shared/platform/')
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
