import { type Hex, type Log, parseEventLogs } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

/**
 * The positions in `many` whose operation reverted, with the revert data. All others took effect,
 * now or before (`AlreadyApplied`). Only events of the credit line itself count.
 */
export function failuresOf(logs: readonly Log[], creditLine: Hex): Map<number, Hex> {
  const own = logs.filter((log) => log.address.toLowerCase() === creditLine.toLowerCase())
  const failed = parseEventLogs({ abi: creditLineAbi, eventName: 'OpFailed', logs: [...own] })
  return new Map(failed.map(({ args }) => [Number(args.index), args.reason]))
}
