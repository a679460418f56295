import type { Hex } from 'viem'
import { type Handler, handler } from '#platform/bus/serve'
import {
  IndexerStatement,
  type StatementChange,
  type StatementEntry,
  statementItemsMax,
} from '#shared/messages/statement'
import { ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import type { EventArgs, EventName } from './event'
import { findAccountEvents } from './event.store'
import { mayAnswer } from './record'

type EventOf<Name extends EventName> = {
  readonly [N in Name]: {
    readonly name: N
    readonly args: Omit<EventArgs[N], 'account' | 'sequence'>
    readonly txHash: Hex
    readonly atSeconds: number
  }
}[Name]

type Line = EventOf<keyof typeof kinds>
export type AccountEvent = Line | EventOf<'HoldExtended'>

/** Events that are lines, with the kind of each. */
const kinds = {
  CollateralAdded: 'collateral_added',
  CollateralWithdrawn: 'collateral_withdrawn',
  CollateralSeized: 'collateral_seized',
  TopUpRevoked: 'topup_revoked',
  Drawn: 'drawn',
  Repaid: 'repaid',
  RepaymentRevoked: 'repayment_revoked',
  DefaultMarked: 'collateral_seized',
} as const satisfies Partial<Record<EventName, StatementEntry['kind']>>
/** Events from which a statement follows. */
export const statementEvents: readonly EventName[] = [...(Object.keys(kinds) as (keyof typeof kinds)[]), 'HoldExtended']

const eventsMax = 50_000

export const answerStatement = ({
  database,
  origin,
  lagMaxMs,
  clock,
}: Pick<Context, 'database' | 'origin' | 'lagMaxMs' | 'clock'>): Handler =>
  handler(IndexerStatement, async ({ wallet, from, to }) => {
    const found = await findAccountEvents(database, origin, wallet, {
      names: statementEvents,
      eventsMax: eventsMax + 1,
    })
    if (!found || !mayAnswer(found.cursor, lagMaxMs, clock())) return refuse('indexer_lags')
    if (found.events.length > eventsMax) return refuse('statement_too_long')
    const fromMs = Date.parse(from)
    // The second of the newest block is left out, because further events may follow in it.
    const untilMs = Math.min(Date.parse(to), 1_000 * found.cursor.blockTimeSeconds)
    const { opening, items } = statementOf(found.events as AccountEvent[], { fromMs, untilMs })
    if (items.length > statementItemsMax) return refuse('statement_too_long')
    return ok({ opening, items, until: new Date(untilMs).toISOString() })
  })

type Account = {
  collateralMicro: bigint
  shares: bigint
  debtMicro: bigint
  /** Shares that came with a hold, by the ref of their payment. */
  readonly held: Map<string, { readonly shares: bigint; readonly untilSeconds: number }>
}

export function statementOf(
  events: readonly AccountEvent[],
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): { opening: StatementChange; items: StatementEntry[] } {
  const account: Account = { collateralMicro: 0n, shares: 0n, debtMicro: 0n, held: new Map() }
  let opening = balanceOf(account)
  const items: StatementEntry[] = []
  for (const event of events) {
    const atMs = 1_000 * event.atSeconds
    if (atMs >= untilMs) break
    if (event.name === 'HoldExtended') {
      extend(account, event.args)
      continue
    }
    const before = { ...account }
    apply(account, event)
    if (atMs < fromMs) opening = balanceOf(account)
    else if (event.name !== 'DefaultMarked' || event.args.seized !== '0') items.push(lineOf(event, before, account))
  }
  return { opening, items }
}

const balanceOf = ({ collateralMicro, debtMicro }: Account): StatementChange => ({
  collateral: String(collateralMicro),
  debt: String(debtMicro),
})

const amountOf = ({ name, args }: Line): string => (name === 'DefaultMarked' ? args.seized : args.amount)

function apply(account: Account, event: Line): void {
  const amountMicro = BigInt(amountOf(event))
  switch (event.name) {
    case 'CollateralAdded':
      account.collateralMicro += amountMicro
      account.shares += BigInt(event.args.shares)
      hold(account, event.args)
      return
    case 'DefaultMarked':
      account.debtMicro -= amountMicro
      seize(account, event)
      return
    case 'CollateralSeized':
      account.debtMicro -= amountMicro
      takeShares(account, BigInt(event.args.shares))
      return
    case 'CollateralWithdrawn':
      takeShares(account, BigInt(event.args.shares))
      return
    case 'TopUpRevoked':
      takeShares(account, BigInt(event.args.shares))
      release(account, event.args)
      return
    case 'Repaid':
      account.debtMicro -= amountMicro
      return
    case 'Drawn':
    case 'RepaymentRevoked':
      account.debtMicro += amountMicro
  }
}

function hold({ held }: Account, { ref, shares, heldUntil }: EventOf<'CollateralAdded'>['args']): void {
  if (heldUntil !== '0') held.set(ref, { shares: BigInt(shares), untilSeconds: Number(heldUntil) })
}

/** A revocation takes the shares of its own payment first. */
function release({ held }: Account, { ref, shares }: EventOf<'TopUpRevoked'>['args']): void {
  const one = held.get(ref)
  if (!one) return
  const left = one.shares - BigInt(shares)
  held.set(ref, { ...one, shares: left > 0n ? left : 0n })
}

/** Moves the end of a hold. A ref without held collateral is that of a held repayment. */
function extend({ held }: Account, { ref, heldUntil }: EventOf<'HoldExtended'>['args']): void {
  const one = held.get(ref)
  if (one) held.set(ref, { ...one, untilSeconds: Number(heldUntil) })
}

/**
 * Takes what a default seized. Its event names no shares: a debt that is left shows that all shares without a hold were taken.
 * Otherwise they count at the value that they brought, which yield makes a little more than was paid in for them.
 */
function seize(account: Account, { args: { seized, stillOwed }, atSeconds }: EventOf<'DefaultMarked'>): void {
  const isHeld = ({ untilSeconds }: { untilSeconds: number }) => untilSeconds > atSeconds
  const heldShares = [...account.held.values()].filter(isHeld).reduce((sum, { shares }) => sum + shares, 0n)
  const freeShares = account.shares > heldShares ? account.shares - heldShares : 0n
  const { collateralMicro, shares } = account
  const valued = collateralMicro === 0n ? 0n : (BigInt(seized) * shares) / collateralMicro
  takeShares(account, stillOwed !== '0' || valued > freeShares ? freeShares : valued)
}

/** Takes shares at the average value at which they were paid in, rounded up. With yield they bring more than that. */
function takeShares(account: Account, shares: bigint): void {
  if (shares === 0n) return
  const takenMicro =
    shares >= account.shares
      ? account.collateralMicro
      : (account.collateralMicro * shares + account.shares - 1n) / account.shares
  account.collateralMicro -= takenMicro
  account.shares = shares >= account.shares ? 0n : account.shares - shares
}

function lineOf(event: Line, before: Account, after: Account): StatementEntry {
  const { args, name, txHash, atSeconds } = event
  const collateralMicro = after.collateralMicro - before.collateralMicro
  const debtMicro = after.debtMicro - before.debtMicro
  const changes = (sign: bigint): StatementChange => ({
    ...(collateralMicro * sign > 0n ? { collateral: String(collateralMicro * sign) } : {}),
    ...(debtMicro * sign > 0n ? { debt: String(debtMicro * sign) } : {}),
  })
  return {
    at: new Date(1_000 * atSeconds).toISOString(),
    kind: kinds[name],
    ausd: amountOf(event),
    txHash,
    in: changes(1n),
    out: changes(-1n),
    refs: 'ref' in args ? [args.ref as Hex] : [],
  }
}
