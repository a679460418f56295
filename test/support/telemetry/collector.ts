import { waitUntil } from '#infra/local/wait'

/** A span as in OTLP's JSON, with its service. */
export type Span = {
  service: string
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  links?: { traceId: string }[]
  attributes: { key: string; value: Record<string, unknown> }[]
}
type Export = {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] }
    scopeSpans: { spans: Omit<Span, 'service'>[] }[]
  }[]
}

/** Opens an OpenTelemetry collector. */
export function openCollector() {
  const spans: Span[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { resourceSpans } = (await request.json()) as Export
      for (const { resource, scopeSpans } of resourceSpans) {
        const named = resource.attributes.find(({ key }) => key === 'service.name')
        const service = named?.value.stringValue ?? ''
        for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })))
      }
      return Response.json({})
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1/traces`,
    spans,
    /** Waits until a span of each name has arrived. */
    whole: (traceId: string, names: readonly string[]): Promise<Span[]> =>
      waitUntil('the trace', () => {
        const found = spans.filter((span) => span.traceId === traceId)
        const has = new Set(found.map(({ name }) => name))
        const missing = names.filter((name) => !has.has(name))
        if (missing.length > 0) throw new Error(`without ${missing}, but with ${[...has]}`)
        return found
      }),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
