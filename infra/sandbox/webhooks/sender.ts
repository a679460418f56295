import { type Draft, nowMs, type SandboxContext, type Webhooks } from '../context'
import type { Webhook, WebhookAttempt } from '../records'
import { retrySchedule } from './retry-schedule'
import { signedHeaders } from './signing'

const reorderSpanMs = 500
const answerKeptMax = 2_000

export function openWebhookSender(context: () => SandboxContext): Webhooks {
  const closing = new AbortController()
  const plan = (webhook: Webhook): void => {
    const dueMs = Date.parse(webhook.nextAttemptAt ?? webhook.createdAt)
    context().timers.at(dueMs, () => void deliver(context(), webhook.id, closing.signal, plan))
  }
  return {
    send(draft) {
      for (const webhook of copiesOf(context(), draft)) {
        context().book.save('webhooks', webhook)
        if (webhook.state === 'pending') plan(webhook)
      }
    },
    async resend(id) {
      const { book } = context()
      const webhook = book.get('webhooks', id) ?? book.find('webhooks', (w) => w.webhookId === id)
      if (!webhook) return undefined
      const attempted = await attempt(context(), webhook.id, closing.signal)
      return attempted && book.save('webhooks', ifDelivered(attempted))
    },
    resume() {
      for (const webhook of context().book.all('webhooks')) {
        if (webhook.state === 'pending') plan(webhook)
      }
    },
    close: () => closing.abort(),
  }
}

function copiesOf(context: SandboxContext, draft: Draft): Webhook[] {
  const { drop, duplicate, only, times, newIds } = context.faults.webhooks
  const dropped = (only.length > 0 && !only.includes(draft.event)) || context.chance.hits(drop)
  const copies = dropped ? 1 : times + (context.chance.hits(duplicate) ? 1 : 0)
  const webhookId = crypto.randomUUID()
  return Array.from({ length: copies }, () => ({
    ...draft,
    id: crypto.randomUUID(),
    webhookId: newIds ? crypto.randomUUID() : webhookId,
    state: dropped ? 'dropped' : 'pending',
    retries: 0,
    nextAttemptAt: dropped ? null : new Date(Date.now() + waitMs(context)).toISOString(),
    attempts: [],
    createdAt: new Date().toISOString(),
  }))
}

function waitMs({ faults, chance }: SandboxContext): number {
  return faults.webhooks.delayMs + (faults.webhooks.reorder ? chance.belowMs(reorderSpanMs) : 0)
}

async function deliver(
  context: SandboxContext,
  id: string,
  closing: AbortSignal,
  plan: (webhook: Webhook) => void,
): Promise<void> {
  const attempted = await attempt(context, id, closing)
  if (!attempted) return
  const after = context.book.save('webhooks', afterAttempt(attempted, context.config.webhookRetryScale))
  if (after.state === 'pending') plan(after)
}

async function attempt(context: SandboxContext, id: string, closing: AbortSignal): Promise<Webhook | undefined> {
  const webhook = context.book.get('webhooks', id)
  if (!webhook) return undefined
  const made = await handOver(context, webhook, closing)
  // A resend may have updated the record meanwhile.
  const current = context.book.get('webhooks', id)
  if (closing.aborted || !current) return undefined
  return { ...current, attempts: [...current.attempts, made] }
}

async function handOver(context: SandboxContext, webhook: Webhook, closing: AbortSignal): Promise<WebhookAttempt> {
  const { config } = context
  const startedMs = Date.now()
  const made = (status: number | null, answer: string): WebhookAttempt => ({
    at: new Date(startedMs).toISOString(),
    status,
    answer: answer.slice(0, answerKeptMax),
    tookMs: Date.now() - startedMs,
  })
  const path = webhook.source === 'payments' ? 'payments' : 'identity'
  try {
    const response = await fetch(`${config.gatewayUrl}/webhooks/${path}`, {
      method: 'POST',
      headers: signedHeaders(webhook, config, nowMs(context)),
      body: webhook.body,
      redirect: 'manual',
      signal: AbortSignal.any([closing, AbortSignal.timeout(retrySchedule[webhook.source].timeoutMs)]),
    })
    return made(response.status, await response.text())
  } catch (error) {
    return made(null, error instanceof Error ? error.message : 'no response')
  }
}

const accepted = ({ attempts }: Webhook): boolean => {
  const status = attempts.at(-1)?.status ?? 0
  return status >= 200 && status < 300
}

const ifDelivered = (webhook: Webhook): Webhook =>
  accepted(webhook) ? { ...webhook, state: 'delivered', nextAttemptAt: null } : webhook

function afterAttempt(webhook: Webhook, scale: number): Webhook {
  if (accepted(webhook) || webhook.state !== 'pending') return ifDelivered(webhook)
  const retryMs = retrySchedule[webhook.source].retriesMs[webhook.retries]
  if (retryMs === undefined) return { ...webhook, state: 'exhausted', nextAttemptAt: null }
  const nextAttemptAt = new Date(Date.now() + retryMs * scale).toISOString()
  return { ...webhook, retries: webhook.retries + 1, nextAttemptAt }
}
