import { connect } from 'nats'

const { NATS_URL, NATS_PASSWORD } = process.env
if (!NATS_URL || !NATS_PASSWORD) throw new Error('set NATS_URL and NATS_PASSWORD')

const reminders: Record<string, string> = {
  three_days_before: 'Your repayment is due in three days.',
  one_day_before: 'Your repayment is due tomorrow.',
  due: 'Your repayment is due. Repay now: your grace period has begun.',
  grace_ends: 'Your grace period has ended. Repay now, before your debt is marked as defaulted.',
}
const outcomes: Record<string, (ausd: string) => string> = {
  repaid: (ausd) => `${ausd} has repaid your debt automatically. The app shows whether you still owe any.`,
  failed: () => 'Your debt could not be repaid automatically. The app shows what is missing.',
}

/** Returns the id and the text of a notification. Undefined for an event of which users are not told. */
function notificationOf(
  subject: string,
  { wallet, cycle, kind = '', outcome = '', ausd, occurredAt }: Record<string, string>,
) {
  if (subject === 'credit.due') return { id: `${wallet}:${cycle}:${kind}`, text: reminders[kind] }
  if (subject !== 'credit.autorepay') return undefined
  const amount = ausd ? `${Number(ausd) / 1_000_000} AUSD` : 'AUSD'
  return { id: `${wallet}:${cycle}:${outcome}:${occurredAt}`, text: outcomes[outcome]?.(amount) }
}

/** Replace this with your push service, which knows the devices of a wallet and ignores a repeated id. */
async function push(id: string, wallet: string, text: string): Promise<void> {
  console.log(`${id} ${wallet}: ${text}`)
}

const connection = await connect({
  servers: NATS_URL,
  user: 'integrator',
  pass: NATS_PASSWORD,
  inboxPrefix: '_INBOX_integrator',
  maxReconnectAttempts: -1,
})
/** Age above which a notification is no longer sent, in ms, as after an outage of this service. */
const staleMs = 12 * 3_600_000
const consumer = await connection.jetstream().consumers.get('EVENTS', 'integrator')
const messages = await consumer.consume({ max_messages: 16 })
process.once('SIGTERM', () => void messages.close())
for await (const message of messages) {
  try {
    const event = message.json<Record<string, string>>()
    const told = notificationOf(message.subject, event)
    const isFresh = Date.now() - Date.parse(event.occurredAt ?? '') < staleMs
    if (told?.text && isFresh) await push(told.id, event.wallet ?? '', told.text)
    message.ack()
  } catch (error) {
    console.error(error)
    message.nak(10_000) // The message is delivered again in ten seconds.
  }
}
await connection.close()
