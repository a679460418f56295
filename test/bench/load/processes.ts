import { join } from 'node:path'
import type { LoadResult } from './generator'
import type { Load, Publishing } from './load'

export const generateLoad = (load: Load): Promise<LoadResult> => runChild('generator.ts', load, load.seconds)

export const publishLoad = (load: Publishing): Promise<{ perSecond: number }> =>
  runChild('publisher.ts', load, load.seconds)

export const recoverLoad = (seconds: number): Promise<{ perSecond: number }> =>
  runChild('recoverer.ts', { seconds }, seconds)

async function runChild<T>(script: string, load: unknown, seconds: number): Promise<T> {
  const command = [process.execPath, join(import.meta.dir, script), '--load', JSON.stringify(load)]
  const child = Bun.spawn(command, { stdout: 'pipe', timeout: (seconds + 30) * 1_000 })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${script} failed`)
  return JSON.parse(text) as T
}

export const startPlainServer = (body = '') => startServer('plain-server.ts', '--body', body)

type Nats = { url: string; admin: { user: string; password: string } }

export const startQuoteServer = (role: 'bare' | 'asking' | 'answering', { url, admin }: Nats) =>
  startServer('quote-server.ts', '--role', role, '--nats', url, '--user', admin.user, '--password', admin.password)

type Server = AsyncDisposable & { readonly url: string }
async function startServer(script: string, ...flags: string[]): Promise<Server> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), ...flags], {
    stdin: 'pipe',
    stdout: 'pipe',
  })
  const { value } = await child.stdout.getReader().read()
  return {
    url: `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await child.exited
    },
  }
}
