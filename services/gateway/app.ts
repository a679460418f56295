import { Elysia } from 'elysia'
import { openHttpMetrics } from './health/http-metrics.ts'
import { corsOf } from './http/cors.ts'
import { openDoor } from './http/door.ts'
import { openEdge } from './http/edge.ts'
import { failureOf } from './http/failure.ts'
import { Refused } from './http/refused.ts'
import { fail } from './http/respond.ts'
import { openLimiter } from './http/token-bucket.ts'
import { openApiDocument } from './openapi/document.ts'
import type { Parts } from './parts.ts'
import { activityRoute } from './routes/activity.ts'
import { cashoutsRoute } from './routes/cashouts.ts'
import { countryRoute } from './routes/country.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { identityWebhookRoute } from './routes/identity-webhook.ts'
import { meRoute } from './routes/me.ts'
import { paymentsWebhookRoute } from './routes/payments-webhook.ts'
import { quoteRoute } from './routes/quote.ts'
import { sendsRoute } from './routes/sends.ts'
import { settlementsRoute } from './routes/settlements.ts'
import { topupsRoute } from './routes/topups.ts'
import { verificationRoute } from './routes/verification.ts'
import { verifyRoute } from './routes/verify.ts'
import { openSignIn } from './sign-in/sign-in.ts'

const routes = [
  quoteRoute,
  meRoute,
  countryRoute,
  verificationRoute,
  activityRoute,
  topupsRoute,
  settlementsRoute,
  cashoutsRoute,
  sendsRoute,
  verifyRoute,
  paymentsWebhookRoute,
  identityWebhookRoute,
  healthRoutes,
]

/** A provider catches up after an outage with thousands of deliveries from few addresses. */
const deliveriesPerMinute = 12_000

/** A request and the socket's address in, a response out; never throws. */
export type App = (request: Request, socketAddress: string) => Promise<Response>

/** Puts the routes together behind the door, and the edge in front of everything. */
export async function openApp(parts: Parts): Promise<App> {
  const { ask, clock, log, settings, users } = parts
  const limiter = (perMinute: number) => openLimiter({ perMinute, clock })
  const door = openDoor({
    signIn: openSignIn({
      ask,
      arrive: users.arrive,
      limiter: limiter(settings.publicPerMinute),
      clock,
    }),
    limits: {
      open: limiter(settings.publicPerMinute),
      delivery: limiter(deliveriesPerMinute),
      signed: limiter(settings.signedPerMinute),
    },
    log,
  })
  const metrics = openHttpMetrics()
  const served = new Elysia()
  for (const route of routes) served.use(route({ ...parts, door, metrics }))
  const document = await openApiDocument(served, settings.publicUrl)
  const router = new Elysia()
    .onError(({ code, error }) => {
      if (code === 'NOT_FOUND') return fail(failureOf(new Refused(404, 'not found')))
      log.error({ err: error }, 'request failed')
      return fail(failureOf(error))
    })
    .use(served)
    .use(docsRoutes(door, document))
  return openEdge({
    handle: async (request) => router.fetch(request),
    cors: corsOf(settings.corsOrigins),
    overTls: settings.publicUrl.startsWith('https:'),
    trustedProxyHops: settings.trustedProxyHops,
    metrics,
    log,
  })
}
