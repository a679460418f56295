import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { ExternalControls } from '#infra/demo/external'
import { planChain } from '#infra/local/chain'
import { repositoryDir } from '#infra/local/folders'
import { waitUntil } from '#infra/local/wait'
import { run } from './engine'

const ports = { chain: 18_545, sandbox: 13_100 }

export type ExternalParts = AsyncDisposable & {
  readonly rpcUrl: string
  readonly providerUrl: string
  readonly sandbox: string
}

/** Containers reach both at the address of the engine's bridge. */
export async function openOutside(dir: string, env: Record<string, string>): Promise<ExternalParts> {
  const bridge = await run(['ip', '-4', '-o', 'addr', 'show', 'docker0'])
  const [, host] = /inet ([0-9.]+)\//.exec(bridge.text) ?? []
  if (!host) throw new Error(`the engine's bridge docker0 has no address: ${bridge.text}`)
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const log = openSync(join(dir, 'logs/outside.log'), 'w')
  const chain = planChain({ dir, port: ports.chain })
  const sandboxUrl = `http://${host}:${ports.sandbox}`
  const children = [
    Bun.spawn([chain.bin, ...chain.args.map((word) => (word === '127.0.0.1' ? '0.0.0.0' : word))], {
      stdin: 'ignore',
      stdout: log,
      stderr: log,
    }),
    Bun.spawn([process.execPath, join(repositoryDir, 'infra/sandbox/main.ts')], {
      env: {
        PATH: process.env.PATH ?? '',
        HOST: '0.0.0.0',
        PORT: String(ports.sandbox),
        // Verification links may use plain HTTP only on this machine.
        PUBLIC_URL: `http://127.0.0.1:${ports.sandbox}`,
        ...env,
      },
      stdin: 'ignore',
      stdout: log,
      stderr: log,
    }),
  ]
  const sandbox = `http://127.0.0.1:${ports.sandbox}`
  await waitUntil('the sandbox', async () => (await fetch(`${sandbox}/health`)).ok)
  return {
    rpcUrl: `http://${host}:${ports.chain}`,
    providerUrl: sandboxUrl,
    sandbox,
    [Symbol.asyncDispose]: async () => {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(children.map(({ exited }) => exited))
    },
  }
}

export const freshEventsSecret = () => `whsec_${crypto.getRandomValues(new Uint8Array(32)).toBase64()}`

/** Waits until the sandbox has taken the event of a paid top-up, which it does only if it knows the secret of its signature. */
export async function eventsArrive({ events }: ExternalControls): Promise<string> {
  const taken = async () => (await events()).filter(({ status }) => status === 204)
  await waitUntil(
    'the event of a paid top-up',
    async () => (await taken()).some(({ event }) => event.type === 'payments.paid'),
    90_000,
    500,
  )
  return `${(await taken()).length} of ${(await events()).length} calls taken`
}
