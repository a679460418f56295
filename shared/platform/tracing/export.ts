import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { steadyClock } from '#platform/clock'
import { within } from '#platform/deadline'
import { type Log, openLogThrottled } from '#platform/log'
import { givenIds, setTracing } from '#platform/tracing/spans'

/** Deadline in ms after which spans are dropped, if the collector does not respond. */
const sendDeadlineMs = 5_000
const sendEveryMs = 1_000
const lastSpansMs = 1_000

/**
 * Exports spans. `share` is the sampled percentage, by trace id, so that every service keeps or drops the same traces.
 */
export function startTraceExport(options: { url: string; share: number; service: string; log: Log }): AsyncDisposable {
  const { url, share, service, log } = options
  const random = new RandomIdGenerator()
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    sampler: new TraceIdRatioBasedSampler(share / 100),
    idGenerator: {
      generateTraceId: () => givenIds()?.traceId ?? random.generateTraceId(),
      generateSpanId: () => givenIds()?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url, timeoutMillis: sendDeadlineMs }),
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendDeadlineMs,
      }),
    ],
  })
  const throttled = openLogThrottled(log, steadyClock, 60_000)
  const warn = () => throttled.warn('traces', {}, 'trace export failed, spans dropped')
  const quiet = () => {}
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(provider)
  setTracing(true)
  return {
    [Symbol.asyncDispose]: async () => {
      setTracing(false)
      await within(provider.shutdown(), lastSpansMs, 'the collector').catch(warn)
    },
  }
}
