import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { type Origin, originOf } from '#platform/tracing/origin'

/** Header of W3C Trace Context, in HTTP and in messages. */
export const traceHeader = 'traceparent'

/** Options of a span. Attributes must not contain personal data or secrets. */
export type SpanWords = {
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer'
  /** The caller's `traceparent`. The default is the active span. */
  readonly parent?: string | undefined
  readonly attributes?: Attributes
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

const tracer = trace.getTracer('ausd-credit-backend')
/** Key of the span of another trace that caused this work. */
const cause = createContextKey('cause')
const handling = createContextKey('handling')
type Handling = {
  readonly name: string
  readonly begunAt: Date
  /** Spans of the message, one in each trace that it continues, by trace id. */
  readonly spans: Map<string, SpanContext>
}

let isOn = false
/** Switches tracing. While it is off, the functions here only run the work. */
export const setTracing = (on: boolean): void => {
  isOn = on
}

/** Ids for the span being started, derived from its request. */
let given: Origin | undefined
export const givenIds = (): Origin | undefined => given

/** Runs work in a span, but only if there is a trace to join: background work creates none. */
export function inSpan<T>(name: string, words: SpanWords, work: () => Promise<T>): Promise<T> {
  if (!isOn) return work()
  const within = words.parent ? extracted(words.parent) : context.active()
  if (!trace.getSpanContext(within)) return work()
  return run(name, words, within, work)
}

/**
 * Runs work in the first span of a request, whose ids are derived from the request id. It is within the caller's span
 * if the request id names one.
 */
export function inFirstSpan<T>(
  name: string,
  words: SpanWords & { readonly requestId: string },
  work: () => Promise<T>,
): Promise<T> {
  if (!isOn) return work()
  const origin = originOf(words.requestId)
  const within = words.parent ? extracted(words.parent) : ROOT_CONTEXT
  const callers = trace.getSpanContext(within)
  const isOfCaller = callers?.traceId === origin.traceId
  given = origin
  const links = callers && !isOfCaller ? [{ context: callers }] : []
  return run(name, words, isOfCaller ? within : ROOT_CONTEXT, work, links)
}

async function run<T>(
  name: string,
  { kind, attributes = {} }: SpanWords,
  within: Context,
  work: () => Promise<T>,
  links: readonly Link[] = linksOf(within),
): Promise<T> {
  const options: SpanOptions = { attributes, links: [...links] }
  if (kind) options.kind = kinds[kind]
  const span = tracer.startSpan(name, options, within)
  given = undefined
  const open = trace.setSpan(within.deleteValue(cause), span)
  const handled: Handling = { name, begunAt: new Date(), spans: new Map() }
  try {
    return await context.with(kind === 'consumer' ? open.setValue(handling, handled) : open, work)
  } catch (error) {
    // Only the name is recorded, because messages of library errors may contain personal data.
    span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

const linksOf = (within: Context): Link[] => {
  const because = within.getValue(cause) as SpanContext | undefined
  return because ? [{ context: because }] : []
}

/**
 * Runs work under the trace of a request. A webhook that advances a payment continues the payment's trace: the next
 * span belongs to it and links to the webhook's. The message being handled gets a span in both.
 */
export function underTraceOf<T>(requestId: string, work: () => T): T {
  if (!isOn) return work()
  const origin = originOf(requestId)
  const before = trace.getSpanContext(context.active())
  if (before?.traceId === origin.traceId) return work()
  const first = { ...origin, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  const there = trace.setSpanContext(ROOT_CONTEXT, first)
  if (!before) return context.with(there, work)
  const handled = context.active().getValue(handling) as Handling | undefined
  const within = handled ? trace.setSpanContext(there, handledIn(there, handled, before)) : there
  return context.with(within.setValue(cause, before), work)
}

function handledIn(there: Context, { name, begunAt, spans }: Handling, before: SpanContext) {
  const { traceId } = trace.getSpanContext(there)!
  const known = spans.get(traceId)
  if (known) return known
  const links = [{ context: before }]
  const span = tracer.startSpan(name, { kind: kinds.consumer, startTime: begunAt, links }, there)
  span.end()
  spans.set(traceId, span.spanContext())
  return span.spanContext()
}

export function recordInSpan(attributes: Attributes, name?: string): void {
  if (!isOn) return
  const span = trace.getActiveSpan()
  span?.setAttributes(attributes)
  if (name) span?.updateName(name)
}

/** Records a span that began at `fromMs` (Unix ms), for work in several steps, possibly across restarts. */
export function spanSince(name: string, fromMs: number, attributes: Attributes): void {
  if (!isOn) return
  const within = context.active()
  if (!trace.getSpanContext(within)) return
  const startTime = new Date(fromMs)
  tracer.startSpan(name, { startTime, attributes, links: linksOf(within) }, within).end()
}

/** Returns the `traceparent` for a message or request, or undefined outside of a trace. */
export function carriedTrace(): string | undefined {
  if (!isOn) return undefined
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  return carrier[traceHeader]
}

export const traceId = (): string | undefined => (isOn ? trace.getSpanContext(context.active())?.traceId : undefined)

/** Returns the span of a `traceparent`, or undefined if that is invalid. */
export const spanOf = (parent: string | null): Origin | undefined =>
  isOn && parent !== null ? trace.getSpanContext(extracted(parent)) : undefined

const extracted = (parent: string): Context => propagation.extract(ROOT_CONTEXT, { [traceHeader]: parent })
