import type { Hex } from 'viem'
import type { AccountOp, CallRefusal, LineOp, Op, Transfer } from './calls'
import { Facts } from './facts'
import * as rules from './line'
import {
  type Account,
  type Closed,
  type Line,
  least,
  type Now,
  newLine,
  noPauses,
  type Pauses,
  type Terms,
} from './line'

/** Place of an event; events above a replaced block are forgotten. */
type At = { readonly block: bigint; readonly time: bigint; readonly txHash: Hex }

export type Applied = {
  readonly block: bigint
  readonly kind: 'credit' | 'repay'
  readonly ref: Hex
  readonly wallet: Hex
  readonly amount: bigint
  readonly held: boolean
  readonly paidAt: bigint
  readonly until: bigint
  /** Part of a repayment that found a debt; the rest became collateral. */
  readonly repaid: bigint
  /** Cycle of that debt; 0 without one. */
  readonly cycle: number
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

/** The credit line and the token as events with their blocks, so that any state can be read. */
export class Contract {
  readonly applied = new Facts<Applied>(({ ref, wallet }) => [ref, wallet])
  readonly revoked = new Facts<Revoked>(({ ref }) => [ref])
  readonly extended = new Facts<Extended>(({ ref }) => [ref])
  readonly used = new Facts<Used>((use) => [keyOf(use), use.from, use.to, use.txHash])
  readonly flags = new Facts<Flag>(({ wallet }) => [wallet])
  readonly drips = new Facts<Drip>(({ wallet }) => [wallet])
  readonly lines = new Facts<Line>(({ wallet }) => [wallet])
  readonly closed = new Facts<Closed>(({ wallet }) => [wallet])
  readonly pauses = new Facts<Pauses>(() => [])
  readonly autoRepaid = new Facts<AutoRepaid>(({ wallet, txHash }) => [wallet, txHash])
  readonly funds = new Map<Hex, bigint>()

  constructor(
    readonly treasury: Hex,
    readonly terms: Terms = rules.worldTerms,
  ) {}

  forgetAbove(block: bigint): void {
    const { applied, revoked, extended, used, flags, drips, lines, closed, pauses, autoRepaid } = this
    for (const facts of [applied, revoked, extended, used, flags, drips, lines, closed, pauses, autoRepaid])
      facts.forgetAbove(block)
  }

  lineAt(wallet: Hex, block: bigint): Line {
    return this.lines.about(wallet).findLast((one) => one.block <= block) ?? newLine(wallet)
  }

  pausesAt(block: bigint): Pauses {
    return this.pauses.all.findLast((one) => one.block <= block) ?? noPauses
  }

  nowAt(block: bigint, time: bigint): Now {
    return { terms: this.terms, pauses: this.pausesAt(block), time }
  }

  /** Returns an account with its holds (`accountOf`). */
  accountAt(wallet: Hex, block: bigint, time: bigint): Account {
    const line = this.lineAt(wallet, block)
    let [free, pending, encumbered] = [line.collateral, 0n, 0n]
    for (const one of this.applied.about(wallet)) {
      if (one.block > block) continue
      const left = this.leftAt(one, block)
      const repaid = least(left, one.repaid)
      if (!one.held || time >= this.untilOf(one, block)) free += left - repaid
      else {
        pending += left - repaid
        encumbered += repaid
      }
    }
    const isFrozen = this.flagOf('frozen', wallet, block)
    return { line, free, pending, encumbered, balance: this.balanceAt(wallet, block), isFrozen }
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
    const now = this.nowAt(block, time)
    switch (op.kind) {
      case 'credit':
      case 'repay':
        return now.pauses.since > 0n ? 'EnforcedPause' : this.#refusalOfClaim(op, block)
      case 'revoke':
      case 'extend':
        return this.#refusalAboutHold(op, block, time)
      case 'transfer':
        return this.#refusalOfTransfer(op.terms, block, time)
      case 'cancel':
        return this.useAt(op.terms, block) && 'UsedOrCanceledAuthorization'
      case 'deposit':
        return now.pauses.since > 0n ? 'EnforcedPause' : undefined
      case 'pause':
        return now.pauses.since > 0n ? 'EnforcedPause' : undefined
      case 'unpause':
        return now.pauses.since > 0n ? undefined : 'ExpectedPause'
      case 'autorepay':
      case 'draw':
      case 'withdraw':
      case 'repay own':
      case 'default':
      case 'seize':
        return refusalAbout(op, this.accountAt(op.wallet, block, time), now)
      default:
        return undefined
    }
  }

  /** Follows `_claim`: a ref is used once, and may be repeated with the same content. */
  #refusalOfClaim(op: Extract<Op, { kind: 'credit' | 'repay' }>, block: bigint): CallRefusal | undefined {
    const known = this.appliedAt(op.ref, block)
    if (!known) return undefined
    const isSame =
      known.kind === op.kind &&
      known.held === op.held &&
      known.wallet === op.wallet &&
      known.amount === op.amount &&
      known.paidAt === op.paidAt
    return isSame ? undefined : 'RefConflict'
  }

  /** Follows `_revoke` and `_extendHold`. */
  #refusalAboutHold(op: Extract<Op, { kind: 'revoke' | 'extend' }>, block: bigint, time: bigint) {
    const known = this.appliedAt(op.ref, block)
    if (!known?.held || (op.kind === 'revoke' && known.kind !== op.of)) return 'NotHeld'
    const left = this.leftAt(known, block)
    if (op.kind === 'revoke' && left <= op.left) return undefined
    const until = this.untilOf(known, block)
    if (left === 0n || time >= until) return 'NotHeld'
    const isLater = op.kind === 'revoke' || rules.extendedUntil(this.terms, { first: known.until, until }, time)
    return isLater ? undefined : 'HoldNotExtendable'
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
    const now = this.nowAt(block, time)
    switch (op.kind) {
      case 'credit':
      case 'repay':
        if (!this.appliedAt(op.ref, block)) this.#pay(op, block, now)
        break
      case 'revoke':
        this.#revoke(this.appliedAt(op.ref, block)!, op.left, { block, now })
        break
      case 'extend': {
        const known = this.appliedAt(op.ref, block)!
        const hold = { first: known.until, until: this.untilOf(known, block) }
        this.extended.push({ block, ref: op.ref, until: rules.extendedUntil(this.terms, hold, time)! })
        break
      }
      case 'transfer':
      case 'cancel':
        this.used.push({ ...op.terms, ...at, isCancelled: op.kind === 'cancel' })
        break
      case 'native':
        this.drips.push({ block, wallet: op.to, wei: op.wei })
        break
      case 'autorepay':
        this.#autoRepay(op.wallet, at, now)
        break
      case 'verified':
      case 'frozen':
        this.flags.push({ block, kind: op.kind, wallet: op.wallet, value: op.value })
        break
      case 'pause':
        this.pauses.push({ ...now.pauses, block, since: time })
        break
      case 'unpause':
        this.pauses.push({ ...rules.unpaused(now.pauses, time), block })
        break
      case 'default':
        this.#change(rules.defaultedBy(this.accountAt(op.wallet, block, time)), block)
        break
      case 'seize':
        this.#change({ line: rules.seizedBy(this.accountAt(op.wallet, block, time)) }, block)
        break
      default:
        this.#change(this.#changed(op, block, now), block)
    }
    return undefined
  }

  #change({ line, closed }: { readonly line: Line; readonly closed?: Closed }, block: bigint): void {
    this.lines.push({ ...line, block })
    if (closed) this.closed.push({ ...closed, block })
  }

  /** Follows `_topUp` and `_repayFor`. */
  #pay(op: Extract<Op, { kind: 'credit' | 'repay' }>, block: bigint, now: Now): void {
    const line = this.lineAt(op.wallet, block)
    const repaid = op.kind === 'credit' ? 0n : least(op.amount, line.drawn)
    const cycle = repaid > 0n && line.openedAt > 0n ? line.cycle : 0
    this.applied.push({ ...op, block, until: rules.holdUntil(this.terms, now.time), repaid, cycle })
    const paidAt = rules.paidAtWithin(line, op.paidAt, now)
    if (repaid > 0n) this.#change(rules.repaidBy(line, repaid, { paidAt, now }), block)
  }

  /** Revokes a payment until `left` remains, its excess first (`_revoke`). */
  #revoke(applied: Applied, left: bigint, { block, now }: { block: bigint; now: Now }): void {
    const before = this.leftAt(applied, block)
    if (left >= before) return
    const { ref, wallet, repaid, cycle } = applied
    this.revoked.push({ block, ref, left })
    const restored = least(before, repaid) - least(left, repaid)
    if (restored === 0n) return
    const closed = this.closed.about(wallet).findLast((one) => one.cycle === cycle)
    this.#change({ line: rules.restoredBy(this.lineAt(wallet, block), restored, { cycle, closed, now }) }, block)
  }

  #autoRepay(wallet: Hex, at: At, now: Now): void {
    const line = this.lineAt(wallet, at.block)
    const { cycle, openedAt, drawn, fromCollateral } = line
    const { amount, ...after } = rules.autoRepay(line, now)
    this.autoRepaid.push({ ...at, wallet, amount, fromCollateral, cycle, openedAt, drawn })
    this.#change(after, at.block)
  }

  #changed(op: LineOp, block: bigint, now: Now): { readonly line: Line; readonly closed?: Closed } {
    const line = this.lineAt(op.wallet, block)
    switch (op.kind) {
      case 'draw':
        return { line: rules.drawnBy(line, op.amount, now) }
      case 'repay own':
        return rules.repaidFromWallet(line, least(op.amount, line.drawn), now)
      case 'approve':
        return { line: { ...line, allowance: op.amount } }
      case 'deposit':
        return { line: { ...line, collateral: line.collateral + op.amount } }
      case 'withdraw': {
        const { collateral, borrowed } = line
        return { line: { ...line, collateral: collateral - op.amount, borrowed: borrowed + op.amount } }
      }
      case 'allow':
        return { line: { ...line, max: op.max, fromCollateral: op.fromCollateral && op.max > 0n } }
      case 'frozen by the issuer':
        return { line: { ...line, isFrozenByIssuer: op.value } }
    }
  }

  flagOf(kind: Flag['kind'], wallet: Hex, block?: bigint): boolean {
    const isThen = (flag: Flag) => flag.kind === kind && (block === undefined || flag.block <= block)
    return this.flags.about(wallet).findLast(isThen)?.value ?? false
  }
}

function refusalAbout(op: AccountOp, account: Account, now: Now): CallRefusal | undefined {
  switch (op.kind) {
    case 'autorepay':
      return rules.refusalOfAutoRepay(account, now)
    case 'draw':
      return rules.refusalOfDraw(account, op.amount, now)
    case 'withdraw':
      return rules.refusalOfWithdrawal(account, op.amount, now)
    case 'repay own':
      return rules.refusalOfRepayment(account, op.amount)
    case 'default':
      return rules.refusalOfDefault(account, now)
    case 'seize':
      return rules.refusalOfSeizure(account, now)
  }
}
