import { join } from 'node:path'
import type { Seen } from './generator'

export type Load = { url: string; connections: number; seconds: number }

/** Runs the generator in a process of its own and answers what it saw. */
export async function generateLoad({ url, connections, seconds }: Load): Promise<Seen> {
  const script = join(import.meta.dir, 'generator.ts')
  const flags = ['--url', url, '--connections', `${connections}`, '--seconds', `${seconds}`]
  const child = Bun.spawn([process.execPath, script, ...flags], {
    stdout: 'pipe',
    timeout: (seconds + 30) * 1_000,
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the load generator failed')
  return JSON.parse(text) as Seen
}

/** The bare server in a process of its own, until it is disposed. */
export async function startPlainServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'plain-server.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
  })
  const { value } = await child.stdout.getReader().read()
  return {
    url: `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/`,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await child.exited
    },
  }
}
