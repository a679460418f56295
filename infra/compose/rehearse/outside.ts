import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { planChain } from '#infra/local/chain'
import { repositoryDir } from '#infra/local/folders'
import { waitUntil } from '#infra/local/wait'
import { run } from './engine'

const ports = { chain: 18_545, sandbox: 13_100 }

/** What a deployment finds outside: a chain, and providers that know it by keys of its own. */
export type Outside = AsyncDisposable & {
  /** For a container, and for this machine. */
  readonly rpcUrl: string
  readonly providerUrl: string
  readonly sandbox: string
}

/** Starts both on this machine, where containers reach them by the address of the engine's bridge. */
export async function openOutside(dir: string, env: Record<string, string>): Promise<Outside> {
  const bridge = await run(['ip', '-4', '-o', 'addr', 'show', 'docker0'])
  const [, host] = /inet ([0-9.]+)\//.exec(bridge.text) ?? []
  if (!host) throw new Error(`the engine has no bridge here: ${bridge.text}`)
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const log = openSync(join(dir, 'logs/outside.log'), 'w')
  const chain = planChain({ dir, port: ports.chain })
  const sandboxUrl = `http://${host}:${ports.sandbox}`
  const children = [
    Bun.spawn([chain.bin, ...chain.args.map((word) => (word === '127.0.0.1' ? '0.0.0.0' : word))], {
      ...{ stdin: 'ignore', stdout: log, stderr: log },
    }),
    Bun.spawn([process.execPath, join(repositoryDir, 'infra/sandbox/main.ts')], {
      env: {
        PATH: process.env.PATH ?? '',
        HOST: '0.0.0.0',
        PORT: String(ports.sandbox),
        // A link for a person is taken in the clear from this machine alone.
        PUBLIC_URL: `http://127.0.0.1:${ports.sandbox}`,
        ...env,
      },
      ...{ stdin: 'ignore', stdout: log, stderr: log },
    }),
  ]
  const sandbox = `http://127.0.0.1:${ports.sandbox}`
  await waitUntil('the sandbox', async () => (await fetch(`${sandbox}/health`)).ok)
  return {
    ...{ rpcUrl: `http://${host}:${ports.chain}`, providerUrl: sandboxUrl, sandbox },
    [Symbol.asyncDispose]: async () => {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(children.map(({ exited }) => exited))
    },
  }
}
