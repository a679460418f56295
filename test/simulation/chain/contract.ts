import type { Hex } from 'viem'
import type { CallRefusal, Op, Transfer } from './calls'
import { Facts } from './facts'

/** Place of an event; events above a replaced block are forgotten. */
type At = { readonly block: bigint; readonly time: bigint; readonly txHash: Hex }

export type Applied = {
  readonly block: bigint
  readonly kind: 'credit' | 'repay'
  readonly ref: Hex
  readonly wallet: Hex
  readonly amount: bigint
  readonly held: boolean
  readonly until: bigint
}
export type Used = Transfer & At & { readonly isCancelled: boolean }
type Flag = {
  readonly block: bigint
  readonly kind: 'verified' | 'frozen'
  readonly wallet: Hex
  readonly value: boolean
}
type Extended = { readonly block: bigint; readonly ref: Hex; readonly until: bigint }
/** A revocation, after which `left` remains of the payment. */
type Revoked = { readonly block: bigint; readonly ref: Hex; readonly left: bigint }
type Drip = { readonly block: bigint; readonly wallet: Hex; readonly wei: bigint }

const keyOf = ({ from, nonce }: Pick<Transfer, 'from' | 'nonce'>) => `${from} ${nonce}`

const holdSeconds = 30n

/** The credit line and the token as events with their blocks, so that any state can be read. */
export class Contract {
  readonly applied = new Facts<Applied>(({ ref, wallet }) => [ref, wallet])
  readonly revoked = new Facts<Revoked>(({ ref }) => [ref])
  readonly extended = new Facts<Extended>(({ ref }) => [ref])
  readonly used = new Facts<Used>((use) => [keyOf(use), use.from, use.to, use.txHash])
  readonly flags = new Facts<Flag>(({ wallet }) => [wallet])
  readonly drips = new Facts<Drip>(({ wallet }) => [wallet])
  readonly funds = new Map<Hex, bigint>()

  constructor(readonly treasury: Hex) {}

  forgetAbove(block: bigint): void {
    const { applied, revoked, extended, used, flags, drips } = this
    for (const facts of [applied, revoked, extended, used, flags, drips]) facts.forgetAbove(block)
  }

  appliedAt(ref: Hex, block: bigint): Applied | undefined {
    return this.applied.about(ref).find((one) => one.block <= block)
  }

  leftAt({ ref, amount }: Applied, block: bigint): bigint {
    const until = this.revoked.about(ref).filter((one) => one.block <= block)
    return until.at(-1)?.left ?? amount
  }

  /** Returns the end of a hold in Unix seconds. */
  untilOf(applied: Applied, block: bigint): bigint {
    const later = this.extended.about(applied.ref).filter((one) => one.block <= block)
    return later.at(-1)?.until ?? applied.until
  }

  useAt(authorization: Pick<Transfer, 'from' | 'nonce'>, block: bigint): Used | undefined {
    return this.used.about(keyOf(authorization)).find((one) => one.block <= block)
  }

  balanceAt(wallet: Hex, block: bigint): bigint {
    let balance = this.funds.get(wallet) ?? 0n
    for (const one of this.used.about(wallet)) {
      if (one.isCancelled || one.block > block) continue
      if (one.from === wallet) balance -= one.value
      if (one.to === wallet) balance += one.value
    }
    return balance
  }

  refusalOf(op: Op, block: bigint, time: bigint): CallRefusal | undefined {
    switch (op.kind) {
      case 'credit':
      case 'repay': {
        const known = this.appliedAt(op.ref, block)
        const isSame = known?.kind === op.kind && known.wallet === op.wallet && known.amount === op.amount
        return known && !isSame ? 'RefConflict' : undefined
      }
      case 'revoke':
      case 'extend': {
        const known = this.appliedAt(op.ref, block)
        if (!known?.held) return 'NotHeld'
        const left = this.leftAt(known, block)
        if (op.kind === 'revoke' && left <= op.left) return undefined
        return left === 0n || time >= this.untilOf(known, block) ? 'NotHeld' : undefined
      }
      case 'transfer':
        return this.#refusalOfTransfer(op.terms, block, time)
      case 'cancel':
        return this.useAt(op.terms, block) && 'UsedOrCanceledAuthorization'
      default:
        return undefined
    }
  }

  #refusalOfTransfer(terms: Transfer, block: bigint, time: bigint): CallRefusal | undefined {
    if (time <= terms.validAfter) return 'InvalidAuthorization'
    if (time >= terms.validBefore) return 'ExpiredAuthorization'
    if (this.useAt(terms, block)) return 'UsedOrCanceledAuthorization'
    if (terms.from === this.treasury) return undefined
    return this.balanceAt(terms.from, block) < terms.value ? 'ERC20InsufficientBalance' : undefined
  }

  apply(op: Op, at: At): CallRefusal | undefined {
    const { block, time } = at
    const refusal = this.refusalOf(op, block, time)
    if (refusal) return refusal
    switch (op.kind) {
      case 'credit':
      case 'repay':
        if (!this.appliedAt(op.ref, block)) this.applied.push({ ...op, block, until: time + holdSeconds })
        break
      case 'revoke':
        if (op.left < this.leftAt(this.appliedAt(op.ref, block)!, block))
          this.revoked.push({ block, ref: op.ref, left: op.left })
        break
      case 'extend':
        this.extended.push({ block, ref: op.ref, until: time + holdSeconds })
        break
      case 'transfer':
      case 'cancel':
        this.used.push({ ...op.terms, ...at, isCancelled: op.kind === 'cancel' })
        break
      case 'native':
        this.drips.push({ block, wallet: op.to, wei: op.wei })
        break
      default:
        this.flags.push({ block, kind: op.kind, wallet: op.wallet, value: op.value })
    }
    return undefined
  }

  flagOf(kind: Flag['kind'], wallet: Hex): boolean {
    const own = this.flags.about(wallet).filter((flag) => flag.kind === kind)
    return own.at(-1)?.value ?? false
  }
}
