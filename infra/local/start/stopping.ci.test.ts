import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { stackFilePath } from '#infra/local/stack-file'
import { waitUntil } from '#infra/local/wait'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'stopping-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

function run(script: string, dir: string, ...words: string[]) {
  const child = Bun.spawn([process.execPath, join(repositoryDir, script), ...words], {
    env: { PATH: process.env.PATH ?? '', LOCAL_DIR: dir },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const heard = { said: '' }
  const listen = async (stream: ReadableStream<Uint8Array>) => {
    for await (const part of stream) heard.said += new TextDecoder().decode(part)
  }
  const listened = Promise.all([listen(child.stdout), listen(child.stderr)])
  const ended = listened.then(() => child.exited)
  return { child, heard, ended }
}

const processesOf = (dir: string): string[] =>
  Bun.spawnSync(['ps', '-eo', 'args'])
    .stdout.toString()
    .split('\n')
    .filter((line) => line.includes(dir))

describe('signals during the start', () => {
  test.each([
    ['infra/local/start.ts', 'SIGTERM', '', 0],
    ['infra/demo/demo.ts', 'SIGINT', '-demo', 130],
  ] as const)('%s that receives %s reports it and leaves no process', async (script, signal, own, code) => {
    const dir = join(home, `${signal}${own}-start`)
    const { child, heard, ended } = run(script, dir, ...(own ? ['--own'] : []))
    const logs = join(dir + own, 'logs')
    await waitUntil('a first process', () => existsSync(logs) && readdirSync(logs).length > 0)
    child.kill(signal)
    expect(await ended).toBe(code)
    expect(heard.said).toContain(`Stopping: ${signal}`)
    expect(heard.said).not.toContain('Ready in')
    expect(processesOf(dir)).toEqual([])
    expect(existsSync(join(dir + own, 'postgres'))).toBe(false)
    if (own) expect([existsSync(dir), existsSync(dir + own)]).toEqual([false, false])
  })
})

test('a demo whose stack disappears ends with a message within seconds', async () => {
  const dir = mkdtempSync(join(home, 'gone-'))
  // Reports that it is alive, and never answers anything else.
  using gateway = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: ({ url }) => (url.endsWith('/health') ? new Response() : new Promise(() => {})),
  })
  const url = `http://127.0.0.1:${gateway.port}`
  const chain = { rpcUrl: url, chainId: 10_143, ausd: url, creditLine: url, treasury: url }
  writeFileSync(stackFilePath(dir), JSON.stringify({ gateway: url, sandbox: url, chain }))
  const { heard, ended } = run('infra/demo/demo.ts', dir)
  await waitUntil('the story to begin', () => heard.said.includes('a new wallet'))
  expect(heard.said).toContain(`Playing on the stack in ${dir}, at ${url}.`)
  rmSync(stackFilePath(dir))
  expect(await ended).toBe(1)
  expect(heard.said).toContain(`the stack is gone: it no longer runs in ${dir}`)
  expect(existsSync(`${dir}-demo`)).toBe(false)
})

test.each([
  ['has no stack', undefined, /no stack is running in .*\/asked/],
  ['has a stack file whose gateway does not respond', 'http://127.0.0.1:9', /does not respond at http:\/\/127.0.0.1:9/],
])('a demo on a folder that %s is refused, and starts no other stack', async (_, gateway, reason) => {
  const dir = join(mkdtempSync(join(home, 'asked-')), 'asked')
  mkdirSync(dir)
  if (gateway) writeFileSync(stackFilePath(dir), JSON.stringify({ gateway }))
  const { heard, ended } = run('infra/demo/demo.ts', dir)
  expect(await ended).toBe(1)
  expect(heard.said).toMatch(reason)
  expect(existsSync(`${dir}-demo`)).toBe(false)
})
