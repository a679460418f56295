import { chainAnswers, localChainId, planChain } from '#infra/local/chain'
import { type Child, startChild } from '#infra/local/child'
import { freePort } from '#infra/local/ports'
import { waitUntil } from '#infra/local/wait'

export type Node = { readonly rpcUrl: string; readonly child: Child }
type Call = { readonly method: string; readonly params: readonly unknown[] }

/**
 * Starts a node that mines on request, one second per block from `genesisSeconds`, without gas. `finalized` is two
 * blocks behind `latest`, where readers call the contract.
 */
export async function startNode(dir: string, genesisSeconds: number): Promise<Node> {
  const port = await freePort()
  const rpcUrl = `http://127.0.0.1:${port}`
  const child = startChild({
    ...planChain({ dir, port }),
    args: [
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--chain-id',
      String(localChainId),
      '--no-mining',
      '--auto-impersonate',
      '--slots-in-an-epoch',
      '1',
      '--order',
      'fifo',
      '--gas-limit',
      '3000000000',
      '--block-base-fee-per-gas',
      '0',
      '--no-priority-fee',
      '--timestamp',
      String(genesisSeconds),
      '--prune-history',
      '64',
      '--accounts',
      '1',
      '--no-request-size-limit',
      '--quiet',
    ],
  })
  await waitUntil('the chain to respond', () => chainAnswers(rpcUrl))
  await rpc(rpcUrl, [{ method: 'anvil_setBlockTimestampInterval', params: [1] }])
  return { rpcUrl, child }
}

const deadlineMs = 60_000

/** Sends one batch. Throws on the first error. */
export async function rpc(rpcUrl: string, calls: readonly Call[]): Promise<unknown[]> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
    signal: AbortSignal.timeout(deadlineMs),
  })
  const answers = (await answer.json()) as { result?: unknown; error?: { message: string } }[]
  return answers.map(({ result, error }, index) => {
    if (error) throw new Error(`${calls[index]?.method}: ${error.message}`)
    return result
  })
}
