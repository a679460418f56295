import { gauge, type Metric, messagingReadings, seconds, total } from '#platform/metrics/metric'
import { stateReadings } from '#platform/metrics/state-limits'
import type { RpcEndpoints, RpcFigures } from '#shared/chain/endpoints'
import { rpcReadings } from '#shared/chain/rpc-readings'
import { needsCoin } from '../alarms'
import type { Context } from '../context'
import { limitsOf } from '../operations/operation'
import { statsOf } from './answers'

type Figures = Awaited<ReturnType<ReturnType<typeof statsOf>>> & { readonly rpc: RpcFigures }

export function metricsOf(context: Context, endpoints: Pick<RpcEndpoints, 'figures'>) {
  const rows = statsOf(context)
  const stats = async () => ({ ...(await rows()), rpc: endpoints.figures() })
  return { stats, readings: readingsOf(context.settings) }
}

const weiPerGwei = 1_000_000_000n

const readingsOf =
  (settings: Context['settings']) =>
  ({ operations, outbox, deadLetters, lanes, rpc }: Figures): Metric[] => [
    ...messagingReadings({ ...outbox, dead: deadLetters }),
    ...stateReadings(limitsOf(settings.oldestAlarmMs), operations.oldestMs),
    gauge('operations', 'Open operations.', operations.waiting, { state: 'waiting' }),
    gauge('operations', 'Open operations.', operations.assigned, { state: 'assigned' }),
    seconds('operations_oldest_age', 'Age of the oldest open operation; 0 if none.', operations.oldestOpenMs ?? 0),
    gauge('takes_watched', 'Failed takes whose authorization can still be used.', operations.watched),
    ...lanes.flatMap(({ nextNonce, fault, balanceWei }, at) => {
      const labels = { lane: String(at) }
      const balanceGwei = balanceWei === null ? null : Number(BigInt(balanceWei) / weiPerGwei)
      return [
        total('lane_transactions', 'Nonces assigned by the lane.', nextNonce, labels),
        gauge('lane_blocked', '1 if the lane assigns no nonces until its fault is resolved.', fault ? 1 : 0, labels),
        gauge('lane_balance_gwei', 'Native coin balance of the lane, in gwei.', balanceGwei, labels),
        gauge(
          'lane_low',
          '1 if the lane holds less than LANE_MIN_BALANCE_WEI and LANE_REFILL_WEI.',
          balanceWei === null ? null : Number(needsCoin(settings, BigInt(balanceWei))),
          labels,
        ),
      ]
    }),
    ...rpcReadings(rpc),
  ]
