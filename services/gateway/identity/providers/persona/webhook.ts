import { type Progress, type ReadDelivery, referenceOf, type Word } from '../../provider'
import { jsonOf, signedByAny, textOf } from '../api'

/** Verdicts by event (docs.withpersona.com, "Events"). `completed` only means that the user finished. */
const words: ReadonlyMap<string, Word> = new Map([
  ['inquiry.approved', 'approved'],
  ['inquiry.declined', 'rejected'],
  ['inquiry.marked-for-review', 'none'],
])

/** Progress by event. After a failed or expired inquiry the user may begin another. */
const turns: ReadonlyMap<string, Progress> = new Map([
  ['inquiry.created', 'unfinished'],
  ['inquiry.started', 'unfinished'],
  ['inquiry.failed', 'unfinished'],
  ['inquiry.expired', 'unfinished'],
  ['inquiry.completed', 'submitted'],
  ['inquiry.marked-for-review', 'submitted'],
])

/** Event of an inquiry whose personal data was deleted, with its account's or on its own. Its status stays. */
const redacted = 'inquiry.redacted'

/**
 * Parses a webhook. Events that are not about an inquiry have no effect. Events do not name their
 * environment, so `sandbox` follows from our API key.
 */
export function parsePersona(body: string, sandbox: boolean): ReadDelivery {
  const { eventId, name, createdAt, inquiryId, referenceId, templateId } = readEvent(body)
  if (!name) return { fault: 'the event has no name' }
  const progress = turns.get(name)
  const undated = {
    eventId: eventId ?? [inquiryId, name, createdAt, referenceId].join(':'),
    subjectRef: referenceId,
    providerRef: inquiryId,
    level: templateId,
    word: words.get(name) ?? 'none',
    ...(progress && { progress }),
    sandbox,
    ...(name === redacted && { isForgotten: true as const }),
  }
  const occurredAtMs = Date.parse(createdAt ?? '')
  return Number.isNaN(occurredAtMs) ? { undated } : { statement: { ...undated, occurredAtMs } }
}

function readEvent(body: string) {
  const event = at(jsonOf(body), 'data')
  const attributes = at(event, 'attributes')
  const inquiry = at(at(attributes, 'payload'), 'data')
  return {
    eventId: textOf(at(event, 'id')),
    name: textOf(at(attributes, 'name')),
    createdAt: textOf(at(attributes, 'created-at')),
    inquiryId: textOf(at(inquiry, 'id')),
    status: textOf(at(at(inquiry, 'attributes'), 'status')),
    referenceId: referenceOf(at(at(inquiry, 'attributes'), 'reference-id')),
    templateId: templateOf(inquiry),
  }
}

/** Returns the body without name, birthday and document. */
export function keptOf(body: string): string {
  const { eventId, name, createdAt, inquiryId, status, referenceId, templateId } = readEvent(body)
  const inquiry = {
    type: 'inquiry',
    id: inquiryId,
    attributes: { status, 'reference-id': referenceId },
    relationships: { 'inquiry-template': { data: templateId && { id: templateId } } },
  }
  const attributes = { name, 'created-at': createdAt, payload: { data: inquiry } }
  return JSON.stringify({ data: { type: 'event', id: eventId, attributes } })
}

/** Returns the template. Old and new inquiries store it under different names. */
export function templateOf(inquiry: unknown): string | null {
  const relations = at(inquiry, 'relationships')
  const idOf = (name: string) => textOf(at(at(at(relations, name), 'data'), 'id'))
  return idOf('inquiry-template') ?? idOf('template')
}

/** Returns a field in kebab, camel or snake case, depending on the webhook's inflection. */
export function at(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const key = [name, camel, name.replaceAll('-', '_')].find((one) => Object.hasOwn(value, one))
  return key === undefined ? undefined : (value as Record<string, unknown>)[key]
}

/**
 * Maximum difference to the webhook's time, in seconds, because a clock may be two hours wrong. A repeated
 * delivery has no effect: its event is known.
 */
const toleranceSeconds = 3 * 3_600

/**
 * Verifies a signature. The header is `t=<unix s>,v1=<hex>`, twice during a rotation, and signs the time, a
 * dot and the raw body (docs.withpersona.com, "Webhooks best practices").
 */
export function verifyPersona(
  body: Uint8Array,
  headers: Headers,
  secrets: readonly string[],
  nowMs: number,
): { ok: true } | { reason: string } {
  const header = headers.get('persona-signature')
  if (!header) return { reason: 'Persona-Signature is missing' }
  const sets = header.slice(0, 2_000).split(' ').map(setOf)
  const known = sets.filter((set) => set !== undefined)
  if (known.length === 0) return { reason: 'Persona-Signature has no v1' }
  const fresh = known.filter(({ t }) => Math.abs(nowMs / 1000 - Number(t)) <= toleranceSeconds)
  if (fresh.length === 0) return { reason: 'Persona-Signature is stale' }
  const signed = fresh.some(({ t, v1 }) => signedByAny(secrets, 'sha256', [`${t}.`, body], v1))
  return signed ? { ok: true } : { reason: 'the signature is wrong' }
}

function setOf(text: string): { t: string; v1: string } | undefined {
  const fields = new Map(text.split(',').map((field) => field.split('=', 2) as [string, string | undefined]))
  const t = fields.get('t')
  const v1 = fields.get('v1')
  return t && v1 && /^[0-9]{1,12}$/.test(t) ? { t, v1 } : undefined
}
