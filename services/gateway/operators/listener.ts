import type { App } from '../app'
import type { Context } from '../context'
import { metricsText } from '../health/metrics'

/**
 * Serves the operators' port. `/ready` and `/metrics` (Prometheus text 0.0.4) ask every service, so on the
 * public port they would amplify an attack; `/health` asks none.
 */
export function openOperatorListener({ health, leaving }: Pick<Context, 'health' | 'leaving'>): App {
  const ready = async () => {
    if (leaving.aborted) return Response.json({ missing: ['this instance: shutting down'] }, { status: 503 })
    const { missing, down } = await health.readiness()
    const details = down.length > 0 ? { down } : {}
    if (missing.length === 0) return Response.json({ status: 'ready', ...details })
    return Response.json({ missing, ...details }, { status: 503 })
  }
  const metrics = async () => {
    const [own, others, down] = await Promise.all([
      health.ownMetrics(),
      health.collectMetrics().catch(() => undefined),
      health.readiness().then(
        (seen) => seen.down,
        () => [],
      ),
    ])
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
    return new Response(await metricsText(own, others, down), { headers })
  }
  const answers = new Map([
    ['/health', async () => Response.json({ status: 'alive' })],
    ['/ready', ready],
    ['/metrics', metrics],
  ])
  return async (request) => {
    const answer = request.method === 'GET' && answers.get(new URL(request.url).pathname)
    return answer ? answer() : Response.json({ error: 'not found' }, { status: 404 })
  }
}
