import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Context } from '../context'
import { figuresIn, type HttpMetrics, sample, serviceLines } from '../health/metrics'
import type { Door } from '../http/door'
import { operation } from '../openapi/operation'

const Status = Type.Object({ status: Type.String() })
const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** `GET /health`, `/ready` and `/metrics`: for probes and operators. */
export const healthRoutes = ({ health }: Context, door: Door, metrics: HttpMetrics) =>
  new Elysia()
    .get(
      '/health',
      door.free(async () => ({ status: 'alive' })),
      operation({
        summary: 'Is the process alive?',
        tag: 'operations',
        ok: { description: 'It is.', schema: Status, example: { status: 'alive' } },
        errors: [],
      }),
    )
    .get(
      '/ready',
      door.free(async () => readyResponse(await health.readiness())),
      operation({
        summary: 'Does everything answer: Postgres, NATS and all six services?',
        tag: 'operations',
        ok: { description: 'It does.', schema: Status, example: { status: 'ready' } },
        errors: [503],
      }),
    )
    .get(
      '/metrics',
      door.free(async () => {
        // Without NATS nothing is known of the others: that is not the same as none of them running.
        const gathering = health.gatherStats().catch(() => undefined)
        const [stats, own] = await Promise.all([gathering, health.figures()])
        const labels = { service: 'gateway' }
        const ownLines = figuresIn(own).map(([figure, value]) =>
          sample('service_figure', { ...labels, figure }, value),
        )
        const lines = [...metrics.lines(), ...serviceLines(stats), ...ownLines]
        return new Response(`${lines.join('\n')}\n`, { headers: { 'Content-Type': metricsType } })
      }),
      operation({
        summary: 'Figures of all services, as Prometheus text',
        tag: 'operations',
        ok: { description: 'Prometheus text format 0.0.4.' },
        errors: [],
      }),
    )

function readyResponse(missing: readonly string[]) {
  if (missing.length === 0) return { status: 'ready' }
  return Response.json(
    { error: `not ready: no answer from ${missing.join(', ')}`, missing },
    { status: 503, headers: { 'Retry-After': '1' } },
  )
}
