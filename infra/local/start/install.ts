// Run before anything is installed: it imports nothing but what comes with Bun.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openProgress } from './progress'

/** The version that everything here is tried with. */
export const triedBun = '1.4.5'

/** Whether a Bun of this version may be too old; a newer one is welcome to try. */
export function isOlderBun(version: string, than: string = triedBun): boolean {
  const numbers = (text: string) => text.split(/[.-]/).slice(0, 3).map(Number)
  const [here, wanted] = [numbers(version), numbers(than)]
  const at = wanted.findIndex((number, index) => number !== here[index])
  return at >= 0 && (here[at] ?? 0) < wanted[at]!
}

/** What a person can do about an installation that failed, from what `bun install` said. */
export function adviceOnInstall(said: string, registry: string | undefined): string {
  if (/ENOSPC|No space left/i.test(said)) return 'The disk is full: make room, then start again.'
  if (/EACCES|EPERM|EROFS|AccessDenied|PermissionDenied|ReadOnlyFileSystem/i.test(said))
    return 'This folder cannot be written to: node_modules is made in it. Use a copy that is yours.'
  if (/frozen|lockfile/i.test(said))
    return 'bun.lock does not fit package.json: `bun install` writes it anew; commit both.'
  if (/IntegrityCheckFailed|integrity/i.test(said))
    return 'A package is not what bun.lock knows of it: `bun pm cache rm`, then start again.'
  const name = registry ?? 'that Bun uses'
  if (/40[134]/.test(said))
    return `The registry ${name} refuses a package, or lacks it: sign in to it, or use another (BUN_CONFIG_REGISTRY).`
  return `The registry ${name} does not answer: is there a network, or a proxy to be set (HTTPS_PROXY)? Another registry: BUN_CONFIG_REGISTRY=https://…`
}

async function install(): Promise<number> {
  if (isOlderBun(Bun.version)) {
    console.error(`This is Bun ${Bun.version}; it takes ${triedBun} or newer.`)
    console.error(`Without installing it: npx -y bun@${triedBun} run ${scriptName()}`)
    return 1
  }
  const root = join(import.meta.dir, '../../..')
  const run = Bun.spawn([process.execPath, 'install', '--frozen-lockfile'], {
    ...{ cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  using progress = openProgress()
  const texts = [run.stdout, run.stderr].map((stream) => new Response(stream).text())
  const [said, code] = await progress.during(
    'installing packages',
    Promise.all([Promise.all(texts).then((all) => all.join('')), run.exited]),
  )
  if (code === 0) return 0
  console.error(`The packages could not be installed:\n${firstLines(said)}\n`)
  console.error(adviceOnInstall(said, registryOf(root)))
  return 1
}

/** It says the same of every package. */
const firstLines = (said: string): string => {
  const lines = said.split('\n').filter((line) => /error|warn/i.test(line))
  const rest = lines.length > 3 ? [`… and ${lines.length - 3} more`] : []
  return [...lines.slice(0, 3), ...rest].join('\n') || said.trim()
}

const scriptName = () => process.env.npm_lifecycle_event ?? 'start'

/** As Bun finds it, roughly: it is only shown. */
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
