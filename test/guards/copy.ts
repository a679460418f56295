import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Edit, type Guard, root } from './guard'

/** Files that the suites of any service read. */
const parts = [
  ...['services', 'shared', 'infra', 'test'],
  ...['package.json', 'tsconfig.json', 'bunfig.toml', 'bun.lock'],
]

export type Copy = Disposable & { readonly dir: string; readonly tmp: string }

/** Postgres' user can enter the folder. */
export function openCopy(): Copy {
  const home = mkdtempSync(join(tmpdir(), 'guards-'))
  const [dir, tmp] = [join(home, 'sources'), join(home, 'tmp')]
  for (const folder of [dir, tmp]) mkdirSync(folder)
  for (const folder of [home, dir, tmp]) chmodSync(folder, 0o755)
  const isOurs = (path: string) => !basename(path).startsWith('.local')
  for (const part of parts)
    cpSync(join(root, part), join(dir, part), { recursive: true, filter: isOurs })
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  return { dir, tmp, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) }
}

export function applied(text: string, { file, from, to }: Edit): string {
  const count = text.split(from).length - 1
  if (count !== 1) throw new Error(`${file} has ${count} occurrences instead of 1 of: ${from}`)
  return text.split(from).join(to)
}

export async function takeOut(
  { dir, tmp }: Copy,
  { edits, also = [] }: Pick<Guard, 'edits' | 'also'>,
): Promise<Disposable> {
  const before = new Map<string, string>()
  const readNow = (file: string) => readFileSync(join(dir, file), 'utf8')
  const clusters = clustersIn(tmp)
  const putBack = () => {
    for (const [file, text] of before) writeFileSync(join(dir, file), text)
    // A cluster with other migrations is useless.
    for (const one of clustersIn(tmp)) if (!clusters.has(one)) rmSync(one, { recursive: true })
  }
  try {
    for (const one of [...edits, ...also]) {
      const text = readNow(one.file)
      if (!before.has(one.file)) before.set(one.file, text)
      writeFileSync(join(dir, one.file), applied(text, one))
    }
    if ([...before.keys()].some((file) => file.endsWith('.sol'))) {
      for (const file of generated) before.set(file, readNow(file))
      await compile(dir)
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

const generated = [
  'infra/contracts/artifacts.gen.ts',
  'shared/chain/ausd-abi.gen.ts',
  'shared/chain/credit-line-abi.gen.ts',
]

async function compile(dir: string): Promise<void> {
  const command = [process.execPath, 'infra/contracts/compile.ts']
  const run = Bun.spawn(command, { cwd: dir, stdout: 'ignore', stderr: 'pipe' })
  const said = await new Response(run.stderr).text()
  if ((await run.exited) !== 0) throw new Error(`the contracts do not compile: ${said}`)
}
