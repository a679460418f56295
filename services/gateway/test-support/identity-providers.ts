import { createHmac } from 'node:crypto'
import type { IdentityProvider } from '../identity/provider'
import { persona } from '../identity/providers/persona/client'
import { sumsub } from '../identity/providers/sumsub/client'
import { nowMs } from './wallets'

export const level = 'level-that-counts'
export const secrets = ['secret-of-today', 'secret-of-yesterday'] as const

export type Saying = {
  verdict: 'approved' | 'rejected'
  subject: string
  occurredAtMs: number
  level?: string
}

type Speaker = {
  name: string
  adapter: (apiUrl: string, environment: 'sandbox' | 'production') => IdentityProvider
  say: (saying: Saying, environment: 'sandbox' | 'production') => string
  answer: (saying: Saying) => object
  sign: (body: string, how?: { secret?: string; atMs?: number; algorithm?: 'sha1' | 'sha256' }) => Headers
  /** True if the signature covers the time of the delivery. */
  signsTime: boolean
}

const hex = (algorithm: string, secret: string, text: string) =>
  createHmac(algorithm, secret).update(text).digest('hex')

const sumsubSpeaker: Speaker = {
  name: 'sumsub',
  signsTime: false,
  adapter: (apiUrl, environment) =>
    sumsub({
      apiUrl,
      appToken: environment === 'production' ? 'prd:token' : 'sbx:token',
      secretKey: 'api-secret',
      webhookSecrets: secrets,
      level,
      clock: () => nowMs,
    }),
  say: ({ verdict, subject, occurredAtMs, level: said = level }, environment) =>
    JSON.stringify({
      applicantId: '5c9e177b0a975a6eeccf5960',
      correlationId: 'req-63f92830-4d68-4eee-98d5-875d53a12258',
      levelName: said,
      externalUserId: subject,
      type: 'applicantReviewed',
      sandboxMode: environment === 'sandbox',
      reviewStatus: 'completed',
      createdAtMs: new Date(occurredAtMs).toISOString().replace('T', ' ').replace('Z', ''),
      reviewResult:
        verdict === 'approved'
          ? { reviewAnswer: 'GREEN' }
          : { reviewAnswer: 'RED', reviewRejectType: 'FINAL', rejectLabels: ['FORGERY'] },
    }),
  answer: ({ verdict, subject, occurredAtMs, level: said = level }) => ({
    id: '5c9e177b0a975a6eeccf5960',
    externalUserId: subject,
    info: { firstName: 'Ratna' },
    review: {
      levelName: said,
      reviewStatus: 'completed',
      reviewDate: new Date(occurredAtMs).toISOString().replace('T', ' ').replace('Z', '+0000'),
      reviewResult:
        verdict === 'approved' ? { reviewAnswer: 'GREEN' } : { reviewAnswer: 'RED', reviewRejectType: 'FINAL' },
    },
  }),
  sign: (body, { secret = secrets[0], algorithm = 'sha256' } = {}) =>
    new Headers({
      'x-payload-digest': hex(algorithm, secret, body),
      'x-payload-digest-alg': `HMAC_${algorithm.toUpperCase()}_HEX`,
    }),
}

const personaSpeaker: Speaker = {
  name: 'persona',
  signsTime: true,
  adapter: (apiUrl, environment) =>
    persona({
      apiUrl,
      apiKey: `persona_${environment}_key`,
      webhookSecrets: secrets,
      templateId: level,
      clock: () => nowMs,
    }),
  say: ({ verdict, subject, occurredAtMs, level: said = level }) =>
    JSON.stringify({
      data: {
        type: 'event',
        id: `evt_${verdict}${occurredAtMs}`,
        attributes: {
          name: verdict === 'approved' ? 'inquiry.approved' : 'inquiry.declined',
          'created-at': new Date(occurredAtMs).toISOString(),
          payload: {
            data: {
              type: 'inquiry',
              id: 'inq_2CVZ4HyVg7qaboXz2PUHknAn',
              attributes: { status: verdict, 'reference-id': subject },
              relationships: {
                'inquiry-template': { data: { id: said, type: 'inquiry-template' } },
              },
            },
          },
        },
      },
    }),
  answer: ({ verdict, subject, occurredAtMs, level: said = level }) => ({
    data: [
      {
        type: 'inquiry',
        id: 'inq_2CVZ4HyVg7qaboXz2PUHknAn',
        attributes: {
          status: verdict === 'approved' ? 'approved' : 'declined',
          'reference-id': subject,
          'decisioned-at': new Date(occurredAtMs).toISOString(),
          'name-first': 'Ratna',
        },
        relationships: { 'inquiry-template': { data: { id: said, type: 'inquiry-template' } } },
      },
    ],
    links: { prev: null, next: null },
  }),
  sign: (body, { secret = secrets[0], atMs = nowMs, algorithm = 'sha256' } = {}) => {
    const t = Math.floor(atMs / 1000)
    return new Headers({
      'persona-signature': `t=${t},v1=${hex(algorithm, secret, `${t}.${body}`)}`,
    })
  },
}

export const speakers: readonly Speaker[] = [sumsubSpeaker, personaSpeaker]
