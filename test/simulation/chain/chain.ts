import { type Hex, zeroHash } from 'viem'
import type { ChainReceipt, Head } from '../../../services/chain-relayer/chain/node'
import type { CallToSign, Fees } from '../../../services/chain-relayer/keys/keys'
import { chance, oneOf } from '../world/choices'
import type { World } from '../world/world'
import { type CallRefusal, type Op, opsOf } from './calls'
import { type AutoRepaid, Contract } from './contract'
import { sightOfRevert } from './line'
import { autoRepaidLog, logsOf } from './logs'

/** A signed transaction, whose hash stands for its bytes. */
export type Signed = CallToSign &
  Fees & {
    readonly lane: Hex
    readonly nonce: number
    readonly hash: Hex
    readonly raw: Hex
    readonly ops: readonly Op[]
  }

type Mined = {
  readonly signed: Signed
  readonly isReverted: boolean
  /** Refusals by the position of the operation. */
  readonly failed: ReadonlyMap<number, CallRefusal>
}
export type Block = {
  readonly number: bigint
  readonly hash: Hex
  readonly timestamp: bigint
  readonly mined: readonly Mined[]
}

export const blockMs = 1_000
export const baseFeeWei = 100_000_000_000n

const digest = (text: string): Hex => {
  const part = (seed: bigint) => Bun.hash.wyhash(text, seed).toString(16).padStart(16, '0')
  return `0x${part(1n)}${part(2n)}${part(3n)}${part(4n)}`
}

/** Returns the sight of a call by others that reverts. */
const sightOfRefusal = ({ kind }: Op, refusal: CallRefusal): string => `${kind} refused: ${refusal}`
/** Refusals of calls by others that must occur. */
export const refusalsToSee: readonly string[] = (
  [
    ['draw', ['AccountDefaulted', 'AccountFrozen', 'EnforcedPause', 'LimitExceeded', 'TermPassed']],
    ['withdraw', ['AccountFrozen', 'EnforcedPause']],
    ['default', ['EnforcedPause', 'NothingOwed', 'TermNotPassed']],
  ] as const
).flatMap(([kind, refusals]) => refusals.map((refusal) => sightOfRefusal({ kind } as Op, refusal)))

/** A chain on which all but the newest two blocks are final. */
export class Chain {
  readonly contract: Contract
  readonly blocks: Block[] = []
  readonly #signed = new Map<Hex, Signed>()
  readonly #pool = new Map<Hex, Signed>()
  readonly #minedIn = new Map<Hex, bigint>()
  /** Nonces by lane; a replaced block returns them. */
  readonly #counts = new Map<string, { block: bigint; nonce: number }[]>()
  #forks = 0
  #foreign: Op[] = []
  /** Transactions of others in the newest blocks. */
  #foreignIn: { block: bigint; op: Op }[] = []
  readonly #sent = new Set<Hex>()

  constructor(
    private readonly world: World,
    treasury: Hex,
  ) {
    this.contract = new Contract(treasury)
    for (let number = 0; number < 3; number++) this.#seal([])
    this.#plan()
  }

  #plan(): void {
    this.world.after(blockMs, undefined, () => {
      this.#mine()
      this.#plan()
    })
  }

  get latest(): Block {
    return this.blocks.at(-1)!
  }
  get finalized(): Block {
    return this.blocks.at(-3)!
  }
  at(number: bigint): Block {
    const block = this.blocks[Number(number)]
    if (!block) throw new Error(`there is no block ${number}`)
    return block
  }

  head({ number, hash, timestamp }: Block): Head {
    const parentHash = this.blocks[Number(number) - 1]?.hash ?? zeroHash
    return { number, hash, parentHash, timestamp, baseFeeWei }
  }

  /** Signs a transaction; the same fields give the same bytes. */
  sign(lane: Hex, fields: { nonce: number; call: CallToSign; fees: Fees }): Signed {
    const { nonce, call, fees } = fields
    const words = [lane, nonce, call.to, call.data, call.valueWei, call.gas]
    const hash = digest([...words, fees.maxFeeWei, fees.priorityWei].join(':'))
    const known = this.#signed.get(hash)
    if (known) return known
    const ops = opsOf(call.to, call.data, call.valueWei)
    const signed = { ...call, ...fees, lane, nonce, hash, raw: hash, ops }
    this.#signed.set(hash, signed)
    return signed
  }

  nativeWeiOf(address: Hex): bigint {
    if (this.#counts.has(address.toLowerCase()) || address.startsWith('0x1a')) return 10n ** 24n
    const given = this.contract.drips.about(address)
    return given.reduce((sum, { wei }) => sum + wei, 0n)
  }

  countAt(lane: Hex, block: bigint): number {
    const used = this.#counts.get(lane.toLowerCase())
    return (used?.findLast((one) => one.block <= block)?.nonce ?? -1) + 1
  }

  /** Broadcasts bytes. Returns null, or a node's error. */
  send(raw: Hex): string | null {
    const signed = this.#signed.get(raw)
    if (!signed) return 'could not decode the transaction'
    const { lane, nonce, hash, maxFeeWei } = signed
    this.#sent.add(hash)
    if (nonce < this.countAt(lane, this.latest.number)) return 'nonce too low'
    const rival = this.#pool.values().find((one) => one.lane === lane && one.nonce === nonce)
    if (rival?.hash === hash) return 'already known'
    if (rival && rival.maxFeeWei >= maxFeeWei) return 'replacement transaction underpriced'
    const drawn = this.world.isCalm ? 0 : oneOf(this.world.choices, 1_000)
    if (drawn > 985) return 'transaction fee too low: underpriced'
    if (rival) this.#pool.delete(rival.hash)
    // The node accepts the transaction, then loses it.
    if (drawn > 960) this.world.saw('a node lost an accepted transaction')
    else this.#pool.set(hash, signed)
    return null
  }

  /** Returns true if the bytes have reached a node. */
  isSent(hash: Hex): boolean {
    return this.#sent.has(hash)
  }

  /** Sends transactions of others, which are executed in this order. */
  foreign(...ops: readonly Op[]): void {
    this.#foreign.push(...ops)
  }

  #mine(): void {
    const { world } = this
    if (!world.isCalm && this.blocks.length > 6 && chance(world.choices, 12)) this.#replace()
    const mined: Mined[] = []
    const waiting = [...this.#pool.values()].sort(
      (left, right) => left.nonce - right.nonce || (left.hash < right.hash ? -1 : 1),
    )
    const number = this.latest.number + 1n
    const time = this.#time()
    // Transactions of others come before or after ours.
    const isFirst = this.#foreign.length > 0 && chance(world.choices, 500)
    if (isFirst) this.#mineForeign(number, time)
    for (const signed of waiting) {
      const { lane, nonce, hash } = signed
      if (nonce < this.countAt(lane, number)) this.#pool.delete(hash)
      if (nonce !== this.countAt(lane, number)) continue
      if (!world.isCalm && chance(world.choices, 120)) continue
      this.#pool.delete(hash)
      mined.push(this.#execute(signed, number, time))
      const used = this.#counts.get(lane)
      if (used) used.push({ block: number, nonce })
      else this.#counts.set(lane, [{ block: number, nonce }])
    }
    if (!isFirst) this.#mineForeign(number, time)
    this.#seal(mined)
  }

  #mineForeign(block: bigint, time: bigint): void {
    this.#foreignIn = this.#foreignIn.filter((one) => one.block > block - 3n)
    for (const op of this.#foreign.splice(0)) {
      const txHash = digest(`foreign ${block} ${this.#forks}`)
      const refusal = this.contract.apply(op, { block, time, txHash })
      if (refusal) this.world.saw(sightOfRefusal(op, refusal))
      else if (op.kind === 'default') this.world.saw('an account was defaulted')
      else if (op.kind === 'seize') this.world.saw('collateral was seized after a default')
      this.#foreignIn.push({ block, op })
    }
  }

  #execute(signed: Signed, block: bigint, time: bigint): Mined {
    const { world } = this
    const failed = new Map<number, CallRefusal>()
    const at = { block, time, txHash: signed.hash }
    const runsOut = !world.isCalm && chance(world.choices, 12)
    if (runsOut && signed.ops.length > 0) {
      world.saw('a transaction reverted without a reason')
      return { signed, isReverted: true, failed }
    }
    for (const [position, op] of signed.ops.entries()) {
      const refusal =
        !world.isCalm && signed.ops.length > 1 && chance(world.choices, 8)
          ? ('out of gas' as const)
          : this.contract.apply(op, at)
      if (refusal) failed.set(position, refusal)
      if (refusal === 'EnforcedPause') world.saw('an order reverted because the credit line was paused')
    }
    if (signed.ops.length > 1) {
      world.saw('several operations shared a transaction')
      if (failed.size > 0) world.saw('one operation of several reverted')
      return { signed, isReverted: false, failed }
    }
    if (failed.size > 0) world.saw('a transaction reverted because the state had changed')
    const refusal = failed.get(0)
    if (refusal && signed.ops[0]?.kind === 'autorepay') world.saw(sightOfRevert(refusal))
    return { signed, isReverted: failed.size > 0, failed }
  }

  #time(): bigint {
    const now = BigInt(Math.floor(this.world.now / 1_000))
    const last = this.blocks.at(-1)?.timestamp ?? 0n
    return now > last ? now : last
  }

  #seal(mined: readonly Mined[]): void {
    const number = BigInt(this.blocks.length)
    const hash = digest(`block ${number} ${this.#forks}`)
    this.blocks.push({ number, hash, timestamp: this.#time(), mined })
    for (const { signed } of mined) this.#minedIn.set(signed.hash, number)
  }

  #replace(): void {
    const { world } = this
    const count = 1 + oneOf(world.choices, 2)
    this.#forks += 1
    let isSeen = false
    for (let gone = 0; gone < count; gone++) {
      const block = this.blocks.pop()!
      for (const { signed } of block.mined) {
        isSeen = true
        this.#minedIn.delete(signed.hash)
        if (!chance(world.choices, 200)) this.#pool.set(signed.hash, signed)
        if (this.contract.autoRepaid.about(signed.hash).length > 0)
          world.saw('a block with an automatic repayment was replaced')
      }
    }
    const { number } = this.latest
    const gone = this.#foreignIn.filter(({ block }) => block > number)
    this.#foreign = [...gone.map(({ op }) => op).filter(() => !chance(world.choices, 200)), ...this.#foreign]
    this.contract.forgetAbove(number)
    for (const [lane, used] of this.#counts)
      this.#counts.set(
        lane,
        used.filter(({ block }) => block <= number),
      )
    world.tell(`the last ${count} blocks are replaced`)
    if (isSeen) world.saw('a block with our transactions was replaced')
    for (let again = 0; again < count; again++) this.#seal([])
  }

  receiptOf(hash: Hex): ChainReceipt | undefined {
    const number = this.#minedIn.get(hash)
    if (number === undefined) return undefined
    const block = this.at(number)
    const mined = block.mined.find(({ signed }) => signed.hash === hash)
    return mined && receiptOf(block, mined, this.contract.autoRepaid.about(hash))
  }
}

const receiptOf = (
  { number, hash }: Block,
  { signed, isReverted, failed }: Mined,
  repaid: readonly AutoRepaid[],
): ChainReceipt =>
  ({
    transactionHash: signed.hash,
    blockNumber: number,
    blockHash: hash,
    from: signed.lane,
    status: isReverted ? 'reverted' : 'success',
    gasUsed: signed.gas,
    effectiveGasPrice: baseFeeWei,
    logs: isReverted ? [] : [...logsOf(signed, failed), ...repaid.map(autoRepaidLog)],
  }) as unknown as ChainReceipt
