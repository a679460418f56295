import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Context } from '../context'
import { figuresIn, type HttpMetrics, sample, serviceLines } from '../health/metrics'
import { operation } from '../openapi/operation'

const Status = Type.Object({ status: Type.String() })
const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** `GET /health`, `/ready` and `/metrics`: for probes and operators. */
export const healthRoutes = ({ health }: Context, metrics: HttpMetrics) =>
  new Elysia()
    .get(
      '/health',
      () => ({ status: 'alive' }),
      operation({
        summary: 'Is the process alive?',
        tag: 'operations',
        ok: { description: 'It is.', schema: Status, example: { status: 'alive' } },
        errors: [],
      }),
    )
    .get(
      '/ready',
      async ({ set }) => {
        const missing = await health.readiness()
        if (missing.length === 0) return { status: 'ready' }
        set.status = 503
        set.headers['retry-after'] = '1'
        return { error: `not ready: no answer from ${missing.join(', ')}`, missing }
      },
      operation({
        summary: 'Does everything answer: Postgres, NATS and all six services?',
        tag: 'operations',
        ok: { description: 'It does.', schema: Status, example: { status: 'ready' } },
        errors: [503],
      }),
    )
    .get(
      '/metrics',
      async ({ set }) => {
        // Without NATS nothing is known of the others: that is not the same as none of them running.
        const gathering = health.gatherStats().catch(() => undefined)
        const [stats, own] = await Promise.all([gathering, health.figures()])
        const labels = { service: 'gateway' }
        const ownLines = figuresIn(own).map(([figure, value]) =>
          sample('service_figure', { ...labels, figure }, value),
        )
        const lines = [...metrics.lines(), ...serviceLines(stats), ...ownLines]
        set.headers['content-type'] = metricsType
        return `${lines.join('\n')}\n`
      },
      operation({
        summary: 'Figures of all services, as Prometheus text',
        tag: 'operations',
        ok: { description: 'Prometheus text format 0.0.4.' },
        errors: [],
      }),
    )
