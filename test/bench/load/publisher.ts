import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { connect, headers } from 'nats'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import type { Publishing } from './load'

/** This yardstick of a webhook writes the same messages to the same stream by bare awaited publishes. */
const { values } = parseArgs({ options: { load: { type: 'string', default: '' } } })
const { natsUrl, user, password, body, connections, seconds } = JSON.parse(values.load) as Publishing
const nc = await connect({
  servers: natsUrl,
  user,
  pass: password,
  inboxPrefix: `_INBOX_${user}`,
  noAsyncTraces: true,
})
const js = nc.jetstream({ timeout: 5_000 })
const warmUpMs = 1_000
const beganAt = performance.now() + warmUpMs
const endsAt = beganAt + seconds * 1_000
let stored = 0
const publish = async () => {
  while (performance.now() < endsAt) {
    const deliveryId = randomUUID()
    const payload = {
      account: 'ID',
      deliveryId,
      receivedAt: new Date().toISOString(),
      body: body.replace('{id}', deliveryId),
    }
    const sentAt = performance.now()
    await js.publish(paymentsWebhookSubject('ID', 'payments', deliveryId), JSON.stringify(payload), {
      msgID: deliveryId,
      headers: headers(),
    })
    if (sentAt >= beganAt) stored++
  }
}
await Promise.all(Array.from({ length: connections }, publish))
console.log(JSON.stringify({ perSecond: (1_000 * stored) / (performance.now() - beganAt) }))
await nc.close()
