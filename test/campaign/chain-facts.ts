import { type Address, createPublicClient, type Hex, http, keccak256, parseAbi, parseEventLogs, toHex } from 'viem'

/** Events by their published signatures, because the audit shares no code with the services. */
const events = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event CollateralAdded(bytes32 indexed ref, address indexed account, uint256 amount, uint256 shares, uint256 heldUntil, uint256 sequence)',
  'event TopUpRevoked(bytes32 indexed ref, address indexed account, uint256 amount, uint256 shares, uint256 sequence)',
  'event Repaid(bytes32 indexed ref, address indexed account, address indexed payer, uint256 amount, uint256 drawnAfter, uint256 sequence)',
  'event RepaymentRevoked(bytes32 indexed ref, address indexed account, uint256 amount, uint256 drawnAfter, uint256 openedAt, uint256 sequence)',
  'event FrozenSet(address indexed account, bool frozen, uint256 sequence)',
])

/** Amounts under a ref, in 10⁻⁶ AUSD. */
export type UnderRef = {
  readonly added: readonly bigint[]
  readonly repaid: readonly bigint[]
  readonly revoked: readonly bigint[]
  readonly accounts: ReadonlySet<string>
}
export type Transfer = { from: string; to: string; valueMicro: bigint; hash: Hex }

export type ChainFacts = {
  readonly underRef: (ref: Hex) => UnderRef
  readonly refs: ReadonlySet<Hex>
  readonly transfers: readonly Transfer[]
  /** Returns the transactions that used a nonce of an authorizer. */
  readonly uses: (authorizer: string, nonce: Hex) => readonly Hex[]
  readonly frozen: ReadonlySet<string>
  readonly treasuryMicro: bigint
  readonly inTransaction: (hash: Hex) => readonly { name: string; amountMicro: bigint; ref?: Hex }[]
}

/** Returns the ref of a name. It is written a second time on purpose, to check the services. */
export const chainRef = (name: string): Hex => keccak256(toHex(`ref:${name}`))

const spanBlocks = 2_000n

export async function readChain(place: {
  rpcUrl: string
  ausd: Address
  creditLine: Address
  treasury: Address
}): Promise<ChainFacts> {
  const client = createPublicClient({ transport: http(place.rpcUrl, { timeout: 30_000 }) })
  const head = await client.getBlockNumber()
  const logs = []
  for (let from = 0n; from <= head; from += spanBlocks) {
    const to = from + spanBlocks - 1n < head ? from + spanBlocks - 1n : head
    const address = [place.ausd, place.creditLine]
    const raw = await client.getLogs({ address, fromBlock: from, toBlock: to })
    logs.push(...parseEventLogs({ abi: events, logs: raw }))
  }
  const refs = new Map<Hex, { added: bigint[]; repaid: bigint[]; revoked: bigint[]; accounts: Set<string> }>()
  const of = (ref: Hex) => {
    const known = refs.get(ref) ?? { added: [], repaid: [], revoked: [], accounts: new Set() }
    refs.set(ref, known)
    return known
  }
  const transfers: Transfer[] = []
  const uses = new Map<string, Hex[]>()
  const frozen = new Set<string>()
  const byHash = new Map<Hex, { name: string; amountMicro: bigint; ref?: Hex }[]>()
  for (const { eventName, args, transactionHash: hash } of logs) {
    const note = (amountMicro: bigint, ref?: Hex) =>
      byHash.set(hash, [...(byHash.get(hash) ?? []), { name: eventName, amountMicro, ...(ref ? { ref } : {}) }])
    if (eventName === 'Transfer') {
      const { from, to, value } = args
      transfers.push({ from: from.toLowerCase(), to: to.toLowerCase(), valueMicro: value, hash })
    } else if (eventName === 'AuthorizationUsed') {
      const key = `${args.authorizer.toLowerCase()} ${args.nonce}`
      uses.set(key, [...(uses.get(key) ?? []), hash])
    } else if (eventName === 'FrozenSet') {
      if (args.frozen) frozen.add(args.account.toLowerCase())
      else frozen.delete(args.account.toLowerCase())
    } else {
      const { ref, account, amount } = args
      const entry = of(ref)
      entry.accounts.add(account.toLowerCase())
      if (eventName === 'CollateralAdded') entry.added.push(amount)
      else if (eventName === 'Repaid') entry.repaid.push(amount)
      else entry.revoked.push(amount)
      note(amount, ref)
    }
  }
  const treasuryMicro = await client.readContract({
    address: place.ausd,
    abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
    functionName: 'balanceOf',
    args: [place.treasury],
  })
  const none: UnderRef = { added: [], repaid: [], revoked: [], accounts: new Set() }
  return {
    underRef: (ref) => refs.get(ref) ?? none,
    refs: new Set(refs.keys()),
    transfers,
    uses: (authorizer, nonce) => uses.get(`${authorizer.toLowerCase()} ${nonce}`) ?? [],
    frozen,
    treasuryMicro,
    inTransaction: (hash) => byHash.get(hash) ?? [],
  }
}
