export type { RpcFaults } from '#infra/sandbox/rpc-proxy/faults'
export { openRpcProxy, type RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
