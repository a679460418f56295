import { createHmac } from 'node:crypto'
import type { Config } from '../config'
import type { Webhook } from '../records'

const hmacHex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex')

/** Signs a webhook. Every attempt has its own signature, because Persona's signature includes the time. */
export function signedHeaders(webhook: Webhook, config: Config, nowMs: number): Record<string, string> {
  const json = { 'content-type': 'application/json', 'user-agent': 'sandbox-webhooks' }
  const secret = config.identity.webhookSecret
  switch (webhook.source) {
    case 'payments': {
      const token = config.callbackTokens[webhook.account ?? 'ID']
      return { ...json, 'x-callback-token': token, 'webhook-id': webhook.webhookId }
    }
    case 'sumsub':
      return {
        ...json,
        'x-payload-digest': hmacHex(secret, webhook.body),
        'x-payload-digest-alg': 'HMAC_SHA256_HEX',
      }
    case 'persona': {
      const seconds = Math.floor(nowMs / 1000)
      const signature = hmacHex(secret, `${seconds}.${webhook.body}`)
      return { ...json, 'persona-signature': `t=${seconds},v1=${signature}` }
    }
  }
}
