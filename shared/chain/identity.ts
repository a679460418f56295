import { BaseError, type Hex, keccak256 } from 'viem'

export type ChainIdentity = {
  readonly chainId: number
  /** Hash of block 0; `unchecked` accepts that of the first endpoint identified. */
  readonly genesisHash: string
  /** Contracts that must have the same code at every endpoint. */
  readonly contracts: readonly Hex[]
  /** The credit line, by whose number of events the states of endpoints are compared. */
  readonly creditLine?: Hex
}

export class AnotherChain extends BaseError {
  override name = 'AnotherChain'
}

type Ask = (call: { readonly method: string; readonly params: unknown }) => Promise<unknown>

/**
 * Returns a check of chain id, block 0 and code. It throws `AnotherChain` if one differs from the configuration or from
 * the first endpoint identified.
 */
export function openIdentifying({ chainId, genesisHash, contracts }: ChainIdentity) {
  const first = new Map<string, string>()
  return async (ask: Ask): Promise<void> => {
    const [id, genesis, ...codes] = await Promise.all([
      ask({ method: 'eth_chainId', params: [] }) as Promise<string>,
      ask({ method: 'eth_getBlockByNumber', params: ['0x0', false] }) as Promise<{ hash: string }>,
      ...contracts.map((at) => ask({ method: 'eth_getCode', params: [at, 'latest'] })),
    ])
    // guard: the service signs only for its configured chain
    if (Number(id) !== chainId)
      throw new AnotherChain(`RPC_URLS points to chain ${Number(id)}, but CHAIN_ID is ${chainId}: fix one of them`)
    if (!genesis) throw new BaseError('the endpoint has no block 0')
    if (genesisHash !== 'unchecked' && genesis.hash !== genesisHash)
      throw new AnotherChain(
        `block 0 is ${genesis.hash}, not GENESIS_HASH: fix RPC_URLS; after a reset of the chain, ` +
          'deploy and set it',
      )
    const reported = new Map([['block 0', genesis.hash]])
    for (const [at, code] of codes.entries()) {
      if (typeof code !== 'string' || code === '0x')
        throw new AnotherChain(`no contract at ${contracts[at]}: fix RPC_URLS, or deploy it first (bun run deploy)`)
      reported.set(`code of ${contracts[at]}`, keccak256(code as Hex))
    }
    for (const [what, hash] of reported)
      if ((first.get(what) ?? hash) !== hash)
        throw new AnotherChain(`${what} is ${hash}, not ${first.get(what)}: fix RPC_URLS`)
    for (const [what, hash] of reported) first.set(what, hash)
  }
}
