import { join } from 'node:path'
import type { Seen } from './generator'

export type Load = { url: string; body?: string; connections: number; seconds: number }

/** Runs the generator in a process of its own and answers what it saw. */
export async function generateLoad({ url, body = '', connections, seconds }: Load): Promise<Seen> {
  const script = join(import.meta.dir, 'generator.ts')
  const counts = ['--connections', `${connections}`, '--seconds', `${seconds}`]
  const flags = ['--url', url, '--body', body, ...counts]
  const child = Bun.spawn([process.execPath, script, ...flags], {
    stdout: 'pipe',
    timeout: (seconds + 30) * 1_000,
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the load generator failed')
  return JSON.parse(text) as Seen
}

/** The bare server in a process of its own, until it is disposed. */
export const startPlainServer = () => startServer('plain-server.ts')

type Nats = { url: string; admin: { user: string; password: string } }

/** A yardstick of `POST /quote` in a process of its own; `quote-server.ts` says what each role is. */
export const startQuoteServer = (role: 'bare' | 'asking' | 'answering', { url, admin }: Nats) =>
  startServer(
    'quote-server.ts',
    ...['--role', role, '--nats', url, '--user', admin.user, '--password', admin.password],
  )

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
