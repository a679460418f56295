import { type Hex, type Log, parseEventLogs } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'

export type Transfer = { readonly from: string; readonly to: string; readonly value: bigint }

const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()

/**
 * Whether the log that used this authorization moved exactly this money. The token writes
 * `AuthorizationUsed` and then the `Transfer` it stands for: only the very next log of the token
 * counts, or one transfer could be taken for two authorizations of the same transaction.
 */
export function movedBy(
  logs: readonly Log[],
  token: Hex,
  used: { authorizer: string; nonce: string },
  wanted: Transfer,
): boolean {
  const own = logs.filter((log) => same(log.address, token))
  const events = parseEventLogs({
    abi: ausdAbi,
    eventName: ['AuthorizationUsed', 'Transfer'],
    logs: [...own],
  })
  return events.some((event, position) => {
    const next = events[position + 1]
    if (event.eventName !== 'AuthorizationUsed' || next?.eventName !== 'Transfer') return false
    if (Number(next.logIndex) !== Number(event.logIndex) + 1) return false
    if (!same(event.args.authorizer, used.authorizer)) return false
    if (!same(event.args.nonce, used.nonce)) return false
    const { from, to, value } = next.args
    return same(from, wanted.from) && same(to, wanted.to) && value === wanted.value
  })
}
