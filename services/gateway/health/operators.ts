import { within } from '#shared/deadline'
import type { App } from '../app'
import type { Context } from '../context'
import { figuresIn, type HttpMetrics, sample, serviceLines } from './metrics'

/** A scrape is not to wait for a database that hangs: without its figures it says the rest. */
const figuresDeadlineMs = 2_000

/**
 * What operators ask, on a listener of its own that nobody outside reaches: `GET /ready` says who
 * does not answer, `GET /metrics` has the figures of all services as Prometheus text 0.0.4. Both
 * ask every service, so on the public port they would be a lever against all of them. `GET /health`
 * asks nobody: for the probe that decides whether this copy gets requests.
 */
export function openOperators({ health, leaving, log }: Context, metrics: HttpMetrics): App {
  const ready = async () => {
    if (leaving.aborted)
      return Response.json({ missing: ['this copy: it is stopping'] }, { status: 503 })
    const missing = await health.readiness()
    if (missing.length === 0) return Response.json({ status: 'ready' })
    return Response.json({ missing }, { status: 503 })
  }
  const figures = async () => {
    // Without NATS nothing is known of the others: that is not the same as none of them running.
    const gathering = health.gatherStats().catch(() => undefined)
    const own = within(health.figures(), figuresDeadlineMs, 'the database').catch((error) => {
      log.warn({ err: error }, 'own figures are missing')
      return {}
    })
    const lines = [
      ...metrics.lines(),
      ...serviceLines(await gathering),
      ...figuresIn(await own).map(([figure, value]) =>
        sample('service_figure', { service: 'gateway', figure }, value),
      ),
    ]
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
    return new Response(`${lines.join('\n')}\n`, { headers })
  }
  const answers = new Map([
    ['/health', async () => Response.json({ status: 'alive' })],
    ['/ready', ready],
    ['/metrics', figures],
  ])
  return async (request) => {
    const answer = request.method === 'GET' && answers.get(new URL(request.url).pathname)
    return answer ? answer() : Response.json({ error: 'not found' }, { status: 404 })
  }
}
