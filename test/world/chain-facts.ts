import { type Address, createPublicClient, type Hex, http, keccak256, parseAbi, parseEventLogs, toHex } from 'viem'

/** Events by their published signatures, because the audit shares no code with the services. */
const events = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event CollateralAdded(bytes32 indexed ref, address indexed account, uint256 amount, uint256 shares, uint256 heldUntil, uint256 sequence)',
  'event TopUpRevoked(bytes32 indexed ref, address indexed account, uint256 amount, uint256 shares, uint256 sequence)',
  'event Repaid(bytes32 indexed ref, address indexed account, address indexed payer, uint256 amount, uint256 drawnAfter, uint256 sequence)',
  'event RepaymentHeld(bytes32 indexed ref, address indexed account, uint256 amount, uint256 heldUntil, uint256 sequence)',
  'event RepaymentRevoked(bytes32 indexed ref, address indexed account, uint256 amount, uint256 drawnAfter, uint256 openedAt, uint256 sequence)',
  'event HoldExtended(bytes32 indexed ref, address indexed account, uint256 heldUntil, uint256 sequence)',
  'event FrozenSet(address indexed account, bool frozen, uint256 sequence)',
  'event Drawn(address indexed account, address indexed to, uint256 amount, uint256 drawnAfter, uint256 sequence)',
  'event AutoRepaid(address indexed account, uint256 amount, bool fromCollateral, uint256 sequence)',
  'event VerifiedSet(address indexed account, bool verified, uint256 sequence)',
])

/** What happened to a ref, in the chain's order. Amounts are in 10⁻⁶ AUSD, times in Unix ms. */
export type RefEvent =
  | { readonly kind: 'given' | 'revoked'; readonly micro: bigint; readonly atMs: number }
  | { readonly kind: 'held'; readonly untilMs: number; readonly atMs: number }

/** Amounts under a ref, in 10⁻⁶ AUSD. */
export type UnderRef = {
  readonly added: readonly bigint[]
  readonly repaid: readonly bigint[]
  readonly revoked: readonly bigint[]
  readonly accounts: ReadonlySet<string>
  readonly history: readonly RefEvent[]
}
export type Transfer = { from: string; to: string; valueMicro: bigint; hash: Hex }
/** A draw or an automatic repayment, in 10⁻⁶ AUSD. */
export type OfDebt = { readonly wallet: string; readonly micro: bigint; readonly hash: Hex }
export type Freeze = { readonly wallet: string; readonly frozen: boolean; readonly atMs: number }

export type ChainFacts = {
  /** Time of the newest block in Unix ms. */
  readonly readAtMs: number
  readonly underRef: (ref: Hex) => UnderRef
  readonly refs: ReadonlySet<Hex>
  readonly transfers: readonly Transfer[]
  /** Returns the transactions that used a nonce of an authorizer. */
  readonly uses: (authorizer: string, nonce: Hex) => readonly Hex[]
  readonly isCancelled: (authorizer: string, nonce: Hex) => boolean
  /** Freezes and their ends, in the chain's order. */
  readonly freezes: readonly Freeze[]
  readonly verified: ReadonlySet<string>
  readonly drawn: readonly OfDebt[]
  readonly autoRepaid: readonly OfDebt[]
  readonly treasuryMicro: bigint
  /** Returns the AUSD (10⁻⁶) of a user at the end. */
  readonly ausdMicro: (wallet: string) => bigint
  /** Returns the native coin (wei) of a user at the end. */
  readonly wei: (wallet: string) => bigint
  readonly inTransaction: (hash: Hex) => readonly { name: string; amountMicro: bigint; ref?: Hex }[]
}

/** Returns the ref of a name. It is written a second time on purpose, to check the services. */
export const chainRef = (name: string): Hex => keccak256(toHex(`ref:${name}`))

/** Returns true if the wallet was frozen at a time in Unix ms. */
export const isFrozenAt = ({ freezes }: Pick<ChainFacts, 'freezes'>, wallet: string, atMs: number): boolean =>
  freezes.findLast((one) => one.wallet === wallet && one.atMs <= atMs)?.frozen ?? false

export const isFrozen = (chain: Pick<ChainFacts, 'freezes'>, wallet: string): boolean =>
  isFrozenAt(chain, wallet, Number.POSITIVE_INFINITY)

const spanBlocks = 2_000n
const erc20 = parseAbi(['function balanceOf(address) view returns (uint256)'])

type Place = {
  readonly rpcUrl: string
  readonly ausd: Address
  readonly creditLine: Address
  readonly treasury: Address
}

/** Reads the whole chain, and the balances of these wallets. */
export async function readChain(place: Place, wallets: Iterable<Address>): Promise<ChainFacts> {
  const client = createPublicClient({ transport: http(place.rpcUrl, { timeout: 30_000, batch: true }) })
  const { number: head, timestamp } = await client.getBlock()
  const logs = []
  for (let from = 0n; from <= head; from += spanBlocks) {
    const to = from + spanBlocks - 1n < head ? from + spanBlocks - 1n : head
    const address = [place.ausd, place.creditLine]
    const raw = await client.getLogs({ address, fromBlock: from, toBlock: to })
    logs.push(...parseEventLogs({ abi: events, logs: raw }))
  }
  const none = () => ({
    added: [] as bigint[],
    repaid: [] as bigint[],
    revoked: [] as bigint[],
    accounts: new Set<string>(),
    history: [] as RefEvent[],
  })
  type Under = ReturnType<typeof none>
  const refs = new Map<Hex, Under>()
  const of = (ref: Hex) => {
    const known = refs.get(ref) ?? none()
    refs.set(ref, known)
    return known
  }
  const transfers: Transfer[] = []
  const uses = new Map<string, Hex[]>()
  const cancelled = new Set<string>()
  const freezes: Freeze[] = []
  const verified = new Set<string>()
  const drawn: OfDebt[] = []
  const autoRepaid: OfDebt[] = []
  const byHash = new Map<Hex, { name: string; amountMicro: bigint; ref?: Hex }[]>()
  for (const { eventName, args, transactionHash: hash, blockTimestamp } of logs) {
    const atMs = Number(blockTimestamp ?? 0n) * 1_000
    const note = (amountMicro: bigint, ref?: Hex) =>
      byHash.set(hash, [...(byHash.get(hash) ?? []), { name: eventName, amountMicro, ...(ref ? { ref } : {}) }])
    switch (eventName) {
      case 'Transfer': {
        const { from, to, value } = args
        transfers.push({ from: from.toLowerCase(), to: to.toLowerCase(), valueMicro: value, hash })
        break
      }
      case 'AuthorizationUsed': {
        const key = keyOf(args.authorizer, args.nonce)
        uses.set(key, [...(uses.get(key) ?? []), hash])
        break
      }
      case 'AuthorizationCanceled':
        cancelled.add(keyOf(args.authorizer, args.nonce))
        break
      case 'FrozenSet':
        freezes.push({ wallet: args.account.toLowerCase(), frozen: args.frozen, atMs })
        break
      case 'VerifiedSet':
        if (args.verified) verified.add(args.account.toLowerCase())
        else verified.delete(args.account.toLowerCase())
        break
      case 'Drawn':
      case 'AutoRepaid': {
        const all = eventName === 'Drawn' ? drawn : autoRepaid
        all.push({ wallet: args.account.toLowerCase(), micro: args.amount, hash })
        break
      }
      case 'RepaymentHeld':
      case 'HoldExtended':
        of(args.ref).history.push({ kind: 'held', untilMs: Number(args.heldUntil) * 1_000, atMs })
        break
      default: {
        const { ref, account, amount } = args
        const entry = of(ref)
        entry.accounts.add(account.toLowerCase())
        if (eventName === 'CollateralAdded') {
          entry.added.push(amount)
          // A held repayment's excess has the hold of its repayment.
          if (args.heldUntil > 0n) entry.history.push({ kind: 'held', untilMs: Number(args.heldUntil) * 1_000, atMs })
          entry.history.push({ kind: 'given', micro: amount, atMs })
        } else if (eventName === 'Repaid') {
          entry.repaid.push(amount)
          entry.history.push({ kind: 'given', micro: amount, atMs })
        } else {
          entry.revoked.push(amount)
          entry.history.push({ kind: 'revoked', micro: amount, atMs })
        }
        note(amount, ref)
      }
    }
  }
  const balanceOf = (address: Address) =>
    client.readContract({ address: place.ausd, abi: erc20, functionName: 'balanceOf', args: [address] })
  const treasuryMicro = await balanceOf(place.treasury)
  const owners = [...new Set(wallets)]
  const [ausd, wei] = await Promise.all([
    Promise.all(owners.map(async (one) => [one as string, await balanceOf(one)] as const)),
    Promise.all(owners.map(async (one) => [one as string, await client.getBalance({ address: one })] as const)),
  ])
  const [ausdOf, weiOf] = [new Map(ausd), new Map(wei)]
  return {
    readAtMs: Number(timestamp) * 1_000,
    underRef: (ref) => refs.get(ref) ?? none(),
    refs: new Set(refs.keys()),
    transfers,
    uses: (authorizer, nonce) => uses.get(keyOf(authorizer, nonce)) ?? [],
    isCancelled: (authorizer, nonce) => cancelled.has(keyOf(authorizer, nonce)),
    freezes,
    verified,
    drawn,
    autoRepaid,
    treasuryMicro,
    ausdMicro: (wallet) => ausdOf.get(wallet) ?? 0n,
    wei: (wallet) => weiOf.get(wallet) ?? 0n,
    inTransaction: (hash) => byHash.get(hash) ?? [],
  }
}

const keyOf = (authorizer: string, nonce: Hex) => `${authorizer.toLowerCase()} ${nonce}`
