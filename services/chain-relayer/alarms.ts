import type { LogThrottled } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { overdueAmong } from '#platform/metrics/state-limits'
import { haltedMs, paceAfter } from './chain/head-progress'
import type { Context } from './context'
import { findCursor } from './operations/cursor.store'
import { limitsOf } from './operations/operation'
import { oldestOperations } from './operations/operation.store'

type Call = LogThrottled['alarm']

/** Runs all checks, then throws the first failure. */
export async function raiseAlarms(context: Context): Promise<void> {
  const call: Call = (key, fields, line) => context.logThrottled.alarm(`alarm:${key}`, fields, line)
  const looks = [lookAtHead, lookAtLanes, lookAtOldest, lookAtTransfers]
  const looked = await Promise.allSettled(looks.map((look) => look(context, call)))
  const failed = looked.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}

async function lookAtHead({ clock, memory, node, settings }: Context, call: Call) {
  const head = await node.newestHead()
  memory.pace = paceAfter(memory.pace, head.number, clock())
  const stillMs = clock() - memory.pace.seenAt
  if (stillMs > haltedMs) call('head', { blockNumber: String(head.number), stillMs }, 'chain head has not advanced')
  if (head.baseFeeWei > settings.baseFeeCapWei)
    call('fee', { baseFeeWei: String(head.baseFeeWei) }, 'base fee above its cap')
}

export const needsCoin = ({ laneMinBalanceWei, laneRefillWei }: Context['settings'], balanceWei: bigint): boolean =>
  balanceWei < laneMinBalanceWei + laneRefillWei

async function lookAtLanes({ keys, node, settings }: Context, call: Call) {
  for (const { address } of keys) {
    const balanceWei = await node.reader.getBalance({ address })
    if (needsCoin(settings, balanceWei))
      call(address, { lane: address, balanceWei: String(balanceWei) }, 'lane needs a refill')
  }
}

async function lookAtOldest({ database, settings }: Context, call: Call) {
  const oldest = await database.read(oldestOperations)
  for (const { alarm, ...fields } of overdueAmong(limitsOf(settings.oldestAlarmMs), oldest))
    call(`overdue:${fields.state}`, fields, alarm)
}

/**
 * Raises an alert while the scan of transfers to the treasury lags: a late transfer that must be returned may go
 * unnoticed.
 */
async function lookAtTransfers({ database, node, settings }: Context, call: Call) {
  const next = await database.read(findCursor)
  if (next === undefined) return
  const { number: head } = await node.finalizedHead()
  const unread = head + 1n - next
  if (unread <= settings.transfersLagBlocks) return
  const fields = { nextBlock: String(next), unread: String(unread) }
  call('transfers', fields, 'treasury transfer scan is lagging')
}

const everyMs = 10_000

export const startAlarms = (context: Context): Loop =>
  startLoop({ name: 'alarms', everyMs, log: context.log, work: () => raiseAlarms(context) })
