import type { Statement, Word } from '../../identity-provider.ts'

/**
 * Event names of Persona's webhooks that are verdicts (docs.withpersona.com, "Events").
 * `inquiry.completed` only says that the person finished; `failed` and `expired` judge nobody.
 */
const words: ReadonlyMap<string, Word> = new Map([
  ['inquiry.approved', 'approved'],
  ['inquiry.declined', 'rejected'],
  ['inquiry.marked-for-review', 'none'],
])

/**
 * Reads a JSON:API event. Keys come kebab- or camel-cased, as the webhook's inflection is set. The
 * event does not say where it was made, so `sandbox` is what our own API key says.
 */
export function parsePersona(
  body: string,
  sandbox: boolean,
): { statement: Statement } | { fault: string } {
  const event = at(jsonOf(body), 'data')
  const attributes = at(event, 'attributes')
  const eventId = textOf(at(event, 'id'))
  const name = textOf(at(attributes, 'name'))
  const createdAt = textOf(at(attributes, 'created-at'))
  if (!eventId || !name) return { fault: 'the event has no id or no name' }
  const occurredAtMs = Date.parse(createdAt ?? '')
  if (Number.isNaN(occurredAtMs)) return { fault: 'created-at is not a time' }
  const inquiry = at(at(attributes, 'payload'), 'data')
  const relations = at(inquiry, 'relationships')
  const template = at(relations, 'inquiry-template') ?? at(relations, 'template')
  return {
    statement: {
      eventId,
      occurredAtMs,
      subjectRef: textOf(at(at(inquiry, 'attributes'), 'reference-id')),
      providerRef: textOf(at(inquiry, 'id')),
      level: textOf(at(at(template, 'data'), 'id')),
      word: words.get(name) ?? 'none',
      sandbox,
    },
  }
}

/** An own property under its kebab-cased or camel-cased name. */
function at(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const key = Object.hasOwn(value, name) ? name : camel
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
