import { type Loop, startLoop } from '#shared/loop'
import { overdueAmong } from '#shared/overdue'
import { paceAfter } from './chain/pace'
import type { Context } from './context'
import { findCursor } from './operations/cursor.store'
import { limitsOf } from './operations/operation'
import { oldestOperations } from './operations/operation.store'

/** Calls a person; one who is called by the same key is not called again for 10 s. */
type Call = (key: string, fields: object, line: string) => void

/**
 * Calls a person for what keeps operations waiting, before it costs money. Decides nothing else. What
 * can be looked at raises its alarm, whatever else cannot: then it throws, afterwards.
 */
export async function raiseAlarms(context: Context): Promise<void> {
  const call: Call = (key, fields, line) =>
    context.logThrottled(`alarm:${key}`, { ...fields, alarm: true }, line)
  const looks = [lookAtHead, lookAtLanes, lookAtOldest, lookAtTransfers]
  const looked = await Promise.allSettled(looks.map((look) => look(context, call)))
  const failed = looked.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}

/** A chain that stands for so long calls a person. */
const haltedMs = 30_000

/** A chain that stands, a base fee above its cap. */
async function lookAtHead({ clock, memory, node, settings }: Context, call: Call) {
  const head = await node.newestHead()
  memory.pace = paceAfter(memory.pace, head.number, clock())
  const stillMs = clock() - (memory.pace.movedAt ?? memory.pace.seenAt)
  if (stillMs > haltedMs)
    call('head', { blockNumber: String(head.number), stillMs }, 'chain head has not advanced')
  if (head.baseFeeWei > settings.baseFeeCapWei)
    call('fee', { baseFeeWei: String(head.baseFeeWei) }, 'base fee above its cap')
}

/** A lane that runs dry. */
async function lookAtLanes({ keys, node, settings }: Context, call: Call) {
  for (const { address } of keys) {
    const balanceWei = await node.reader.getBalance({ address })
    if (balanceWei < settings.laneFloorWei + settings.laneRefillWei)
      call(address, { lane: address, balanceWei: String(balanceWei) }, 'lane needs a refill')
  }
}

/** An operation that gets old. */
async function lookAtOldest({ database, settings }: Context, call: Call) {
  const oldest = await database.read(oldestOperations)
  for (const { alarm, ...fields } of overdueAmong(limitsOf(settings.oldestAlarmMs), oldest))
    call(`overdue:${fields.state}`, fields, alarm)
}

/** Money may have come to the treasury late, and nobody knows that it is to be given back. */
async function lookAtTransfers({ database, node, settings }: Context, call: Call) {
  const next = await database.read(findCursor)
  if (next === undefined) return
  const { number: head } = await node.finalizedHead()
  const unread = head + 1n - next
  if (unread <= settings.transfersLagBlocks) return
  const fields = { nextBlock: String(next), unread: String(unread) }
  call('transfers', fields, 'treasury transfer scan is lagging')
}

const everyMs = 5_000

/** Raises them every 5 s until disposed. */
export const startAlarms = (context: Context): Loop =>
  startLoop({ name: 'alarms', everyMs, log: context.log, work: () => raiseAlarms(context) })
