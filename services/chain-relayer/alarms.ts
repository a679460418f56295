import { type Loop, startLoop } from '#shared/loop'
import { paceAfter } from './chain/pace'
import type { Context } from './context'
import { countOpen } from './operations/operation.store'

/** A chain that stands for so long calls a person. */
const haltedMs = 30_000

/**
 * Calls a person for what keeps operations waiting, before it costs money: a chain that stands, a
 * base fee above its cap, a lane that runs dry, an operation that gets old. Decides nothing else.
 */
export async function raiseAlarms(context: Context): Promise<void> {
  const { clock, database, keys, memory, node, settings } = context
  const call = (key: string, fields: object, line: string) =>
    context.logThrottled(`alarm:${key}`, { ...fields, alarm: true }, line)

  const head = await node.newestHead()
  memory.pace = paceAfter(memory.pace, head.number, clock())
  const stillMs = clock() - (memory.pace.movedAt ?? memory.pace.seenAt)
  if (stillMs > haltedMs)
    call('head', { blockNumber: String(head.number), stillMs }, 'the newest block stands')
  if (head.baseFeeWei > settings.baseFeeCapWei)
    call('fee', { baseFeeWei: String(head.baseFeeWei) }, 'the base fee is above its cap')

  for (const { address } of keys) {
    const balanceWei = await node.reader.getBalance({ address })
    if (balanceWei < settings.laneFloorWei + settings.laneRefillWei)
      call(address, { lane: address, balanceWei: String(balanceWei) }, 'lane needs a refill')
  }
  const { oldestOpenMs } = await database.read(countOpen)
  if (oldestOpenMs !== null && oldestOpenMs > settings.oldestAlarmMs)
    call('oldest', { oldestOpenMs }, 'the oldest operation is under way for too long')
}

const everyMs = 5_000

/** Raises them every 5 s until disposed. */
export const startAlarms = (context: Context): Loop =>
  startLoop({ name: 'alarms', everyMs, log: context.log, work: () => raiseAlarms(context) })
