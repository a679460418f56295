import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { outsideOf } from '#infra/demo/external'
import { waitUntil } from '#infra/local/wait'
import { idFor } from '#shared/ids'
import { keptDelivery } from '#shared/provider/delivery'
import { readDelivery as readByPayments } from '../../services/payments/providers/xendit/delivery'
import { readDelivery as readByPayouts } from '../../services/payouts/providers/xendit/delivery'
import { quickChecks } from '../support/settings'
import { ownStack } from '../support/stack'
import { openServed } from './served'

type Anomaly = { kind: string; object: string }

const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

/** Returns how many of the two payment services store something for a body. */
export const concerned = (body: unknown): number =>
  Number(readByPayments(textOf(body)).about !== 'payout') + Number(readByPayouts(textOf(body)).about !== 'other')

export async function openRecorded() {
  const place = { sandbox: '' }
  const served = openServed(() => place.sandbox)
  const PROVIDER_URL = served.url
  const stack = await ownStack({
    env: {
      ...quickChecks,
      payments: { ...quickChecks.payments, PROVIDER_URL, LIST_EVERY_MS: '1000' },
      payouts: { ...quickChecks.payouts, PROVIDER_URL },
    },
  })
  place.sandbox = stack.info.sandbox
  const sql = postgres(stack.adminUrl, { max: 2, onnotice: () => {} })
  const handled = async (messageId: string, by: number) => {
    const rows = await sql<{ done: boolean }[]>`
      select done_at is not null as done from payments.inbox where message_id = ${messageId}
      union all select done_at is not null from payouts.inbox where message_id = ${messageId}`
    return rows.filter(({ done }) => done).length === by
  }
  const anomalies = async (): Promise<Anomaly[]> => [
    ...(await sql<Anomaly[]>`
      select kind, object from payments.anomalies union all
      select 'payouts: ' || kind, object from payouts.anomalies`),
  ]
  const post = async (body: unknown, account: 'ID' | 'MY', webhookId: string) => {
    const answer = await fetch(`${stack.info.gateway}/webhooks/payments`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'x-callback-token': stack.info.webhooks.payments[account],
        'webhook-id': webhookId,
      },
      body: textOf(body),
    })
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
    const stored = createHash('sha256')
      .update(keptDelivery(textOf(body)))
      .digest('hex')
    return idFor('delivery', `${account}:${webhookId}:${stored}`)
  }
  return {
    stack,
    served,
    sql,
    outside: outsideOf(stack.info),
    post,
    anomalies,
    /** Delivers a body, waits until it is handled, and returns the new anomalies. */
    deliver: async (body: unknown, account: 'ID' | 'MY' = 'ID'): Promise<string[]> => {
      const before = new Set((await anomalies()).map(({ kind, object }) => `${kind} ${object}`))
      const messageId = await post(body, account, crypto.randomUUID())
      await waitUntil('the webhook to be handled', () => handled(messageId, concerned(body)))
      const after = (await anomalies()).map(({ kind, object }) => `${kind} ${object}`)
      return after.filter((line) => !before.has(line))
    },
    /** Returns the last matching log line, parsed. */
    logged: (service: string, text: string) =>
      waitUntil(`${service} to log ${text}`, async () => {
        const lines = readFileSync(join(stack.dir, 'logs', `${service}.log`), 'utf8').split('\n')
        const line = lines.findLast((one) => one.includes(text))
        return line && (JSON.parse(line) as Record<string, unknown>)
      }),
    deadLetters: async () => [
      ...(await sql<{ reason: string }[]>`
        select reason from payments.dead_letter union all select reason from payouts.dead_letter`),
    ],
    [Symbol.asyncDispose]: async () => {
      await sql.end()
      await stack[Symbol.asyncDispose]()
      await served[Symbol.asyncDispose]()
    },
  }
}
export type RecordedStack = Awaited<ReturnType<typeof openRecorded>>
