// Runs before packages are installed: imports only what comes with Bun.
import { Database } from 'bun:sqlite'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { triedBun } from './command'
import { openProgress } from './progress'

export function isOlderBun(version: string, than: string = triedBun): boolean {
  const numbers = (text: string) => text.split(/[.-]/).slice(0, 3).map(Number)
  const [here, wanted] = [numbers(version), numbers(than)]
  const at = wanted.findIndex((number, index) => number !== here[index])
  return at >= 0 && (here[at] ?? 0) < wanted[at]!
}

const progressLines = /^Resolv(?:ing dependencies|ed, downloaded and extracted.*)$/gm

/** A retry fails again. */
const lasting: readonly [RegExp, string][] = [
  [/ENOSPC|No space left/i, 'The disk is full: free some space, then start again.'],
  [
    /EACCES|EPERM|EROFS|AccessDenied|PermissionDenied|ReadOnlyFileSystem/i,
    'node_modules cannot be written in this folder: use a copy of the repository you own.',
  ],
  [/frozen|lockfile/i, 'bun.lock does not match package.json: run `bun install` and commit both files.'],
  [
    /IntegrityCheckFailed|integrity/i,
    'A package does not match its hash in bun.lock: `bun pm cache rm`, then start again.',
  ],
]

export const mayPass = (said: string): boolean => !lasting.some(([failure]) => failure.test(said))

export function adviceOnInstall(said: string, registry: string | undefined): string {
  const known = lasting.find(([failure]) => failure.test(said))
  if (known) return known[1]
  const name = registry ?? 'that Bun uses'
  if (/40[134]/.test(said))
    return `The registry ${name} denied a package or does not have it: sign in, or set BUN_CONFIG_REGISTRY to another registry.`
  const faults = said.replace(progressLines, '')
  if (!/Refused|Resolve|ENOTFOUND|Timeout|TimedOut|Connection|network|fetch/i.test(faults))
    return 'Remove node_modules, then start again.'
  return `The registry ${name} does not respond: check the network, set HTTPS_PROXY if you need a proxy, or set BUN_CONFIG_REGISTRY to another registry.`
}

/**
 * Two installations at once copy the same files, and Bun fails with EEXIST. SQLite's kernel lock ends with
 * its process.
 */
export async function lockInstallation(root: string): Promise<Disposable> {
  const folder = join(root, 'node_modules')
  mkdirSync(folder, { recursive: true })
  const lock = new Database(join(folder, '.installing'))
  for (;;) {
    try {
      lock.run('begin exclusive')
      return { [Symbol.dispose]: () => lock.close() }
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
      await Bun.sleep(retryMs)
    }
  }
}

const retryMs = 50

/** A busy registry, or another checkout using the shared cache, may fail one attempt. */
const attemptsMax = 3

async function install(): Promise<number> {
  if (isOlderBun(Bun.version)) {
    console.error(`Bun ${triedBun} or newer is required; this is ${Bun.version}.`)
    console.error(`Upgrade it, or use the one that npm installs in this folder: npm run ${scriptName()}`)
    return 1
  }
  const root = join(import.meta.dir, '../../..')
  using progress = openProgress()
  // An unwritable folder has no lock; the installation reports it.
  const waited = lockInstallation(root).catch(() => undefined)
  using _lock = await progress.during('waiting for another installation', waited)
  let said = ''
  for (let attempt = 1; attempt <= attemptsMax && mayPass(said); attempt++) {
    const run = Bun.spawn([process.execPath, 'install', '--frozen-lockfile'], {
      cwd: root,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const texts = [run.stdout, run.stderr].map((stream) => new Response(stream).text())
    const all = Promise.all(texts).then((parts) => parts.join(''))
    const work = Promise.all([all, run.exited])
    const [text, code] = await progress.during('installing packages', work)
    if (code === 0) return 0
    said = text
  }
  console.error(`Package installation failed:\n${firstLines(said)}\n`)
  console.error(adviceOnInstall(said, registryOf(root)))
  return 1
}

/** `bun install` repeats the error for every package. */
const firstLines = (said: string): string => {
  const lines = said.split('\n').filter((line) => /error|warn/i.test(line))
  const rest = lines.length > 3 ? [`… and ${lines.length - 3} more`] : []
  return [...lines.slice(0, 3), ...rest].join('\n') || said.trim()
}

const scriptName = () => process.env.npm_lifecycle_event ?? 'start'

function registryOf(root: string): string | undefined {
  const { BUN_CONFIG_REGISTRY, NPM_CONFIG_REGISTRY, npm_config_registry } = process.env
  const inFile = /^registry\s*=\s*"?([^"\n]+)/m
  const files = [join(root, '.npmrc'), join(process.env.HOME ?? '/', '.npmrc')].flatMap((path) => {
    try {
      return inFile.exec(readFileSync(path, 'utf8'))?.[1]?.trim() ?? []
    } catch {
      return []
    }
  })
  return BUN_CONFIG_REGISTRY ?? NPM_CONFIG_REGISTRY ?? npm_config_registry ?? files[0]
}

if (import.meta.main) process.exit(await install())
