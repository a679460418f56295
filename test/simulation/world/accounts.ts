import type { Hex } from 'viem'
import type { Chain } from '../chain/chain'
import { defaultsAtOf, dueAtOf, startsAtOf, takenInCycle } from '../chain/line'

/** Returns what `chain.account` tells of a wallet at a block. */
export function accountAt(chain: Chain, wallet: Hex, block = chain.latest.number) {
  const { contract } = chain
  const { timestamp } = chain.at(block)
  const { line, free, encumbered, balance, isFrozen } = contract.accountAt(wallet, block, timestamp)
  const now = contract.nowAt(block, timestamp)
  const { drawn, cycle, openedAt, max, fromCollateral, isDefaulted } = line
  const isOpen = openedAt > 0n
  const dueAt = String(dueAtOf(line, now.pauses))
  const dates = { openedAt: String(openedAt), dueAt, defaultsAt: String(defaultsAtOf(line, now)) }
  const permission = {
    maxPerCycle: String(max),
    source: fromCollateral ? 'collateral' : 'wallet',
    taken: String(isOpen ? takenInCycle(line) : 0n),
    startsAt: isOpen ? String(startsAtOf(line, now)) : null,
  }
  return {
    wallet,
    verified: true,
    defaulted: isDefaulted,
    frozen: isFrozen,
    drawn: String(drawn),
    encumbered: String(encumbered),
    collateral: { value: String(free) },
    balance: { ausd: String(balance), native: '0' },
    cycle: isOpen ? { number: cycle, ...dates } : null,
    autoRepay: max > 0n ? permission : null,
    paused: now.pauses.since > 0n,
    blockNumber: String(block),
    blockTime: String(timestamp),
  }
}

/** Returns the open cycles that fall due in an interval, as the reader of the chain lists them from final blocks. */
export function dueCycles(
  { contract, finalized }: Chain,
  { sinceSeconds, untilSeconds }: { readonly sinceSeconds: number; readonly untilSeconds: number },
) {
  const { number, timestamp } = finalized
  const pauses = contract.pausesAt(number)
  const cycles = contract.lines.subjects.flatMap((subject) => {
    const line = contract.lineAt(subject as Hex, number)
    const dueAt = dueAtOf(line, pauses)
    const inSeconds = Number(dueAt - timestamp)
    if (line.openedAt === 0n || inSeconds > untilSeconds || inSeconds < -sinceSeconds) return []
    const { wallet, cycle, openedAt } = line
    return [{ wallet, number: cycle, openedAt: String(openedAt), dueAt: String(dueAt) }]
  })
  return { cycles, isLast: true, blockTime: String(timestamp) }
}

/** Returns what the reader of the chain tells of a debt, all of which counts as owed for a day. */
export function debtAt({ contract, latest }: Chain, wallet: Hex) {
  const { drawn, openedAt } = contract.lineAt(wallet, latest.number)
  return {
    owedForDay: String(drawn),
    openedAt: openedAt > 0n ? String(openedAt) : null,
    blockTime: String(latest.timestamp),
  }
}
