import type { Hex } from 'viem'
import type { Chain } from '../chain/chain'
import { defaultsAtOf, dueAtOf, startsAtOf, takenInCycle } from '../chain/line'

/** Returns what `chain.account` tells of a wallet at a block. */
export function accountAt({ contract, latest }: Chain, wallet: Hex, block = latest.number) {
  const line = contract.lineAt(wallet, block)
  const { drawn, cycle, openedAt, collateral, max, fromCollateral } = line
  const isOpen = openedAt > 0n
  const dates = { openedAt: String(openedAt), dueAt: String(dueAtOf(line)), defaultsAt: String(defaultsAtOf(line)) }
  const permission = {
    maxPerCycle: String(max),
    source: fromCollateral ? 'collateral' : 'wallet',
    taken: String(isOpen ? takenInCycle(line) : 0n),
    startsAt: isOpen ? String(startsAtOf(line)) : null,
  }
  return {
    wallet,
    verified: true,
    frozen: contract.flagOf('frozen', wallet),
    drawn: String(drawn),
    collateral: { value: String(collateral) },
    balance: { ausd: String(contract.balanceAt(wallet, block)), native: '0' },
    cycle: isOpen ? { number: cycle, ...dates } : null,
    autoRepay: max > 0n ? permission : null,
    paused: false,
    blockNumber: String(block),
    blockTime: String(latest.timestamp),
  }
}

/** Returns the open cycles that fall due in an interval, as the reader of the chain lists them from final blocks. */
export function dueCycles(
  { contract, finalized }: Chain,
  { sinceSeconds, untilSeconds }: { readonly sinceSeconds: number; readonly untilSeconds: number },
) {
  const { number, timestamp } = finalized
  const cycles = contract.lines.subjects.flatMap((subject) => {
    const line = contract.lineAt(subject as Hex, number)
    const inSeconds = Number(dueAtOf(line) - timestamp)
    if (line.openedAt === 0n || inSeconds > untilSeconds || inSeconds < -sinceSeconds) return []
    const { wallet, cycle, openedAt } = line
    return [{ wallet, number: cycle, openedAt: String(openedAt), dueAt: String(dueAtOf(line)) }]
  })
  return { cycles, isLast: true, blockTime: String(timestamp) }
}
