import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

const dir = mkdtempSync(join(tmpdir(), 'run-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Returns the environment of a program that run.sh starts as `bun run` does, on a PATH without Bun. */
async function environment(given: Record<string, string>): Promise<Record<string, string | undefined>> {
  const program = ['-e', 'console.log(JSON.stringify({ ...process.env, execPath: process.execPath }))']
  const child = Bun.spawn(['sh', join(repositoryDir, 'infra/run.sh'), ...program], {
    cwd: dir,
    env: { PATH: '/usr/bin:/bin', HOME: process.env.HOME ?? '/', npm_execpath: process.execPath, ...given },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complaint] = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()))
  if ((await child.exited) !== 0) throw new Error(complaint)
  return JSON.parse(said!)
}

describe('a script of package.json', () => {
  test('runs in the Bun of its `bun run`, which need not be on the PATH', async () => {
    expect((await environment({})).execPath).toBe(process.execPath)
  })

  const proxy = 'http://10.0.0.1:3128'
  const loopback = '127.0.0.1,localhost,::1'
  test.each([
    [{ HTTP_PROXY: proxy }, loopback],
    [{ all_proxy: proxy, NO_PROXY: '.corp,localhost' }, `${loopback},.corp,localhost`],
    [{ https_proxy: proxy, no_proxy: '.corp', NO_PROXY: '.other' }, `${loopback},.corp`],
    [{ NO_PROXY: '.corp' }, undefined],
  ])('calls this machine itself past the proxy of %j: no_proxy=%s', async (given, noProxy) => {
    const env = await environment(given)
    expect(env.no_proxy).toBe(noProxy)
    if (noProxy) expect(env.NO_PROXY).toBe(noProxy)
  })

  test('reaches a server on this machine while HTTP_PROXY and ALL_PROXY name a dead proxy', async () => {
    using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('reached') })
    const dead = 'http://127.0.0.1:9'
    const call = `process.stdout.write(await (await fetch('${server.url}')).text())`
    const child = Bun.spawn(['sh', join(repositoryDir, 'infra/run.sh'), '-e', call], {
      env: { PATH: '/usr/bin:/bin', npm_execpath: process.execPath, HTTP_PROXY: dead, ALL_PROXY: dead },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    expect(await new Response(child.stdout).text()).toBe('reached')
  })

  test('does not pass on the options of npx that forbid an installation', async () => {
    const env = await environment({ npm_config_allow_scripts: 'bun', npm_config_ignore_scripts: 'true' })
    expect([env.npm_config_allow_scripts, env.npm_config_ignore_scripts]).toEqual([undefined, undefined])
  })
})

test('a `.env` in the folder of the repository, which may be for another program, is not read', async () => {
  cpSync(join(repositoryDir, 'bunfig.toml'), join(dir, 'bunfig.toml'))
  writeFileSync(join(dir, '.env'), 'LOG_LEVEL=verbose\n')
  const child = Bun.spawn([process.execPath, '-e', 'console.log(process.env.LOG_LEVEL)'], {
    cwd: dir,
    env: { PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
  })
  expect(await new Response(child.stdout).text()).toBe('undefined\n')
})
