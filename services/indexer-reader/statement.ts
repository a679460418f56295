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
import type { EventArgs } from './event'
import { findAccountEvents } from './event.store'
import { mayAnswer } from './record'

export type AccountEvent = {
  readonly [N in keyof typeof kinds]: {
    readonly name: N
    readonly args: Omit<EventArgs[N], 'account' | 'sequence'>
    readonly txHash: Hex
    readonly atSeconds: number
  }
}[keyof typeof kinds]

const kinds = {
  CollateralAdded: 'collateral_added',
  CollateralWithdrawn: 'collateral_withdrawn',
  CollateralSeized: 'collateral_seized',
  TopUpRevoked: 'topup_revoked',
  Drawn: 'drawn',
  Repaid: 'repaid',
  RepaymentRevoked: 'repayment_revoked',
} as const satisfies Partial<Record<keyof EventArgs, StatementEntry['kind']>>
const accountEventNames = Object.keys(kinds) as (keyof typeof kinds)[]

const eventsMax = 50_000

export const answerStatement = ({
  database,
  origin,
  lagMaxMs,
  clock,
}: Pick<Context, 'database' | 'origin' | 'lagMaxMs' | 'clock'>): Handler =>
  handler(IndexerStatement, async ({ wallet, from, to }) => {
    const found = await findAccountEvents(database, origin, wallet, {
      names: accountEventNames,
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

type Account = { collateralMicro: bigint; shares: bigint; debtMicro: bigint }

export function statementOf(
  events: readonly AccountEvent[],
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): { opening: StatementChange; items: StatementEntry[] } {
  const account: Account = { collateralMicro: 0n, shares: 0n, debtMicro: 0n }
  let opening = balanceOf(account)
  const items: StatementEntry[] = []
  for (const event of events) {
    const atMs = 1_000 * event.atSeconds
    if (atMs >= untilMs) break
    const before = { ...account }
    apply(account, event)
    if (atMs < fromMs) opening = balanceOf(account)
    else items.push(lineOf(event, before, account))
  }
  return { opening, items }
}

const balanceOf = ({ collateralMicro, debtMicro }: Account): StatementChange => ({
  collateral: String(collateralMicro),
  debt: String(debtMicro),
})

function apply(account: Account, event: AccountEvent): void {
  const amountMicro = BigInt(event.args.amount)
  switch (event.name) {
    case 'CollateralAdded':
      account.collateralMicro += amountMicro
      account.shares += BigInt(event.args.shares)
      return
    case 'CollateralSeized':
      account.debtMicro -= amountMicro
      takeShares(account, BigInt(event.args.shares))
      return
    case 'CollateralWithdrawn':
    case 'TopUpRevoked':
      takeShares(account, BigInt(event.args.shares))
      return
    case 'Repaid':
      account.debtMicro -= amountMicro
      return
    case 'Drawn':
    case 'RepaymentRevoked':
      account.debtMicro += amountMicro
  }
}

/** Takes shares at the average value at which they were paid in, rounded up. With yield they bring more than that. */
function takeShares(account: Account, shares: bigint): void {
  const takenMicro =
    shares >= account.shares
      ? account.collateralMicro
      : (account.collateralMicro * shares + account.shares - 1n) / account.shares
  account.collateralMicro -= takenMicro
  account.shares -= shares
}

function lineOf(event: AccountEvent, before: Account, after: Account): StatementEntry {
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
    ausd: args.amount,
    txHash,
    in: changes(1n),
    out: changes(-1n),
    refs: 'ref' in args ? [args.ref as Hex] : [],
  }
}
