import { Elysia } from 'elysia'
import type { Context } from './context'
import { openHttpMetrics } from './health/metrics'
import { openDoor } from './http/door'
import { openEdge } from './http/edge'
import { fail, failureOf, Refused } from './http/failure'
import { openLimiter } from './http/limit'
import { openApiDocument } from './openapi/document'
import { activityRoute } from './routes/activity'
import { cashoutsRoute } from './routes/cashouts'
import { docsRoutes } from './routes/docs'
import { healthRoutes } from './routes/health'
import { countryRoute, meRoute, verificationRoute } from './routes/me'
import { quoteRoute } from './routes/quote'
import { sendsRoute } from './routes/sends'
import { settlementsRoute } from './routes/settlements'
import { topupsRoute } from './routes/topups'
import { verifyRoute } from './routes/verify'
import { identityWebhookRoute, paymentsWebhookRoute } from './routes/webhooks'
import { openSignIn } from './sign-in/sign-in'

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
]

/** A provider catches up after an outage with thousands of deliveries from few addresses. */
const deliveriesPerMinute = 12_000

/** A request and the socket's address in, a response out; never throws. */
export type App = (request: Request, socketAddress: string) => Promise<Response>

/** Puts the routes together behind the door, and the edge in front of everything. */
export async function openApp(context: Context): Promise<App> {
  const { config, clock, log } = context
  const limiter = (perMinute: number) => openLimiter({ perMinute, clock })
  const door = openDoor({
    signIn: openSignIn(context, limiter(config.rateLimitPublicPerMinute)),
    limits: {
      open: limiter(config.rateLimitPublicPerMinute),
      delivery: limiter(deliveriesPerMinute),
      signed: limiter(config.rateLimitSignedPerMinute),
    },
    log,
  })
  const metrics = openHttpMetrics()
  const served = new Elysia()
  for (const route of routes) served.use(route(context, door))
  served.use(healthRoutes(context, door, metrics))
  const document = await openApiDocument(served, config.publicUrl)
  const router = new Elysia()
    .onError(({ code, error }) => {
      if (code === 'NOT_FOUND') return fail(failureOf(new Refused(404, 'not found')))
      log.error({ err: error }, 'request failed')
      return fail(failureOf(error))
    })
    .use(served)
    .use(docsRoutes(door, document))
  return openEdge(context, { handle: async (request) => router.fetch(request), metrics })
}
