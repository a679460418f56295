import type { Hex } from 'viem'
import type { CallRefusal, LineOp, Op, Transfer } from './calls'
import { Facts } from './facts'
import { autoRepay, drawnBy, type Line, least, newLine, refusalOfAutoRepay, repaidBy, restoredBy } from './line'

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
  /** Part of a repayment that found a debt; the rest became collateral. */
  readonly repaid: bigint
  /** Beginning of the cycle of that debt. */
  readonly openedAt: bigint
}
/** An automatic repayment, by our transaction or another, with the debt that it found. */
export type AutoRepaid = At & {
  readonly wallet: Hex
  readonly amount: bigint
  readonly fromCollateral: boolean
  readonly cycle: number
  readonly openedAt: bigint
  readonly drawn: bigint
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
  readonly lines = new Facts<Line>(({ wallet }) => [wallet])
  readonly autoRepaid = new Facts<AutoRepaid>(({ wallet, txHash }) => [wallet, txHash])
  readonly funds = new Map<Hex, bigint>()

  constructor(readonly treasury: Hex) {}

  forgetAbove(block: bigint): void {
    const { applied, revoked, extended, used, flags, drips, lines, autoRepaid } = this
    for (const facts of [applied, revoked, extended, used, flags, drips, lines, autoRepaid]) facts.forgetAbove(block)
  }

  lineAt(wallet: Hex, block: bigint): Line {
    return this.lines.about(wallet).findLast((one) => one.block <= block) ?? newLine(wallet)
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
    let balance = (this.funds.get(wallet) ?? 0n) + this.lineAt(wallet, block).borrowed
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
      case 'autorepay':
        return refusalOfAutoRepay(this.lineAt(op.wallet, block), this.balanceAt(op.wallet, block), time)
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
        if (!this.appliedAt(op.ref, block)) this.#pay(op, at)
        break
      case 'revoke':
        this.#revoke(this.appliedAt(op.ref, block)!, op.left, block)
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
      case 'autorepay':
        this.#autoRepay(op.wallet, at)
        break
      case 'verified':
      case 'frozen':
        this.flags.push({ block, kind: op.kind, wallet: op.wallet, value: op.value })
        break
      default:
        this.lines.push({ ...this.#changed(op, at), block })
    }
    return undefined
  }

  #pay(op: Extract<Op, { kind: 'credit' | 'repay' }>, { block, time }: At): void {
    const line = this.lineAt(op.wallet, block)
    const repaid = op.kind === 'credit' ? 0n : least(op.amount, line.drawn)
    this.applied.push({ ...op, block, until: time + holdSeconds, repaid, openedAt: line.openedAt })
    if (repaid > 0n) this.lines.push({ ...repaidBy(line, repaid), block })
  }

  /** Revokes a payment until `left` remains, its excess first. */
  #revoke(applied: Applied, left: bigint, block: bigint): void {
    const before = this.leftAt(applied, block)
    if (left >= before) return
    const { ref, wallet, repaid, openedAt } = applied
    this.revoked.push({ block, ref, left })
    const restored = least(before, repaid) - least(left, repaid)
    if (restored > 0n) this.lines.push({ ...restoredBy(this.lineAt(wallet, block), restored, openedAt), block })
  }

  #autoRepay(wallet: Hex, at: At): void {
    const line = this.lineAt(wallet, at.block)
    const { cycle, openedAt, drawn, fromCollateral } = line
    const { amount, after } = autoRepay(line)
    this.autoRepaid.push({ ...at, wallet, amount, fromCollateral, cycle, openedAt, drawn })
    this.lines.push({ ...after, block: at.block })
  }

  #changed(op: LineOp, { block, time }: At): Line {
    const line = this.lineAt(op.wallet, block)
    switch (op.kind) {
      case 'draw':
        return drawnBy(line, op.amount, time)
      case 'repay own': {
        const amount = least(least(op.amount, line.drawn), this.balanceAt(op.wallet, block))
        return amount > 0n ? repaidBy({ ...line, borrowed: line.borrowed - amount }, amount) : line
      }
      case 'approve':
        return { ...line, allowance: op.amount }
      case 'deposit':
        return { ...line, collateral: line.collateral + op.amount }
      case 'withdraw':
        return { ...line, collateral: line.collateral - least(op.amount, line.collateral) }
      case 'allow':
        return { ...line, max: op.max, fromCollateral: op.fromCollateral }
      case 'frozen by the issuer':
        return { ...line, isFrozenByIssuer: op.value }
    }
  }

  flagOf(kind: Flag['kind'], wallet: Hex): boolean {
    const own = this.flags.about(wallet).filter((flag) => flag.kind === kind)
    return own.at(-1)?.value ?? false
  }
}
