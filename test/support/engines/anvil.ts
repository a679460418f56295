import { anvilBinary } from '#infra/local/chain/anvil'
import { tied } from '#infra/local/child'

export type AnvilProcess = AsyncDisposable & { rpcUrl: string; close: () => Promise<void> }

/** Starts anvil with chain id 10143 on a free port. It mines each transaction at once, unless `args` change that. */
export async function startAnvil(args: readonly string[] = []): Promise<AnvilProcess> {
  const words = ['--port', '0', '--chain-id', '10143', '--prune-history', '64', ...args]
  const [bin, rest] = tied({ bin: anvilBinary(), args: words })
  const child = Bun.spawn([bin, ...rest], { stdout: 'pipe', stderr: 'ignore' })
  const close = async () => {
    child.kill()
    await child.exited
  }
  const address = await listeningAddress(child.stdout)
  if (address === undefined) {
    await close()
    throw new Error('anvil ended before it listened')
  }
  return { rpcUrl: `http://${address}`, close, [Symbol.asyncDispose]: close }
}

/** Reads the output to its end, because a full pipe would block the process. */
function listeningAddress(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const decoder = new TextDecoder()
  const read = async () => {
    let banner: string | undefined = ''
    for await (const chunk of output) {
      if (banner === undefined) continue
      banner += decoder.decode(chunk, { stream: true })
      const address = /Listening on (\S+)/.exec(banner)?.[1]
      if (address === undefined) continue
      resolve(address)
      banner = undefined
    }
    resolve(undefined)
  }
  void read()
  return promise
}
