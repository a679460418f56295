import type { RpcEndpoints, RpcFigures } from '#shared/chain/endpoints'
import { rpcReadings } from '#shared/chain/rpc-readings'
import { gauge, type Reading, seconds, total } from '#shared/metrics/readings'
import { messagingReadings, stateReadings } from '#shared/metrics/standing'
import type { Context } from '../context'
import { limitsOf } from '../operations/operation'
import { statsOf } from './answers'

type Figures = Awaited<ReturnType<ReturnType<typeof statsOf>>> & { readonly rpc: RpcFigures }

/** What this service says of itself: to `nats micro stats`, and to `/metrics`. */
export function figuresOf(context: Context, endpoints: Pick<RpcEndpoints, 'figures'>) {
  const rows = statsOf(context)
  const stats = async () => ({ ...(await rows()), rpc: endpoints.figures() })
  return { stats, readings: readingsOf(context.settings) }
}

const weiPerGwei = 1_000_000_000n

/** The figures of the relayer as `/metrics` shows them; lanes by their place, native coin in 10^-9. */
const readingsOf =
  ({ oldestAlarmMs }: { oldestAlarmMs: number }) =>
  ({ operations, outbox, deadLetters, lanes, rpc }: Figures): Reading[] => [
    ...messagingReadings({ ...outbox, dead: deadLetters }),
    ...stateReadings(limitsOf(oldestAlarmMs), operations.oldestMs),
    gauge('operations', 'Operations under way.', operations.waiting, { state: 'waiting' }),
    gauge('operations', 'Operations under way.', operations.assigned, { state: 'assigned' }),
    seconds(
      'operations_oldest_age',
      'Since when the oldest of them is under way; 0: there is none.',
      operations.oldestOpenMs ?? 0,
    ),
    gauge('takes_watched', 'Failed takes whose transfer may still happen.', operations.watched),
    ...lanes.flatMap(({ nextNonce, fault, balanceWei }, at) => {
      const labels = { lane: String(at) }
      const balanceGwei = balanceWei === null ? null : Number(BigInt(balanceWei) / weiPerGwei)
      return [
        total('lane_transactions', 'Nonces that a lane has given out.', nextNonce, labels),
        gauge(
          'lane_blocked',
          'Whether it gives out none until a person looked.',
          fault ? 1 : 0,
          labels,
        ),
        gauge('lane_balance_gwei', 'Its native coin, in 10^-9.', balanceGwei, labels),
      ]
    }),
    ...rpcReadings(rpc),
  ]
