import { openRpcProxy } from './proxy'

/**
 * Node that the proxy forwards to. Start it with `RPC_TARGET=http://127.0.0.1:8545 PORT=8546 bun
 * infra/sandbox/rpc-proxy/main.ts`.
 */
const target = process.env.RPC_TARGET
if (!target || !URL.canParse(target)) throw new Error('RPC_TARGET must be the URL of the real node')
const proxy = openRpcProxy({ target, port: Number(process.env.PORT ?? 8546) })
console.log(`rpc proxy listening on ${proxy.url}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void proxy[Symbol.asyncDispose]())
}
