import { Elysia } from 'elysia'
import type { Context } from './context'
import { everyAnswer, openEdge } from './http/edge'
import { openAddressLimits } from './http/limit'
import { openMethods } from './http/methods'
import { openApiDocument } from './openapi/document'
import { activityItemRoute, activityRoute } from './routes/activity'
import { cancelRoutes } from './routes/cancel'
import { accountCheckRoute, cashoutsRoute } from './routes/cashouts'
import { configRoute } from './routes/config'
import { docsRoutes } from './routes/docs'
import { eventsRoute } from './routes/events'
import { exportRoute } from './routes/export'
import { guideRoutes } from './routes/guide'
import { healthRoutes } from './routes/health'
import { countryRoute, meRoute, verificationRoute } from './routes/me'
import { quoteRoute } from './routes/quote'
import { receiptRoute } from './routes/receipt'
import { sendsRoute } from './routes/sends'
import { settlementsRoute } from './routes/settlements'
import { statementRoute } from './routes/statement'
import { topupsRoute } from './routes/topups'
import { verifyRoute } from './routes/verify'
import { identityWebhookRoute, paymentsWebhookRoute } from './routes/webhooks'
import { openAccess } from './sign-in/access'

const routes = [
  configRoute,
  quoteRoute,
  meRoute,
  countryRoute,
  verificationRoute,
  activityRoute,
  activityItemRoute,
  eventsRoute,
  receiptRoute,
  statementRoute,
  exportRoute,
  topupsRoute,
  settlementsRoute,
  cancelRoutes,
  cashoutsRoute,
  accountCheckRoute,
  sendsRoute,
  verifyRoute,
  paymentsWebhookRoute,
  identityWebhookRoute,
]

/** Answers an HTTP request. Never throws. */
export type App = (request: Request, socketAddress: string) => Promise<Response>

export function openApp(context: Context): App {
  const limits = openAddressLimits(context.config, context.clock)
  const access = openAccess(context, limits)
  const served = new Elysia()
  for (const route of routes) served.use(route(context, access))
  served.use(healthRoutes(context, access))
  const router: Elysia = new Elysia()
  const methodsAt = openMethods(() => router.routes)
  router.use(everyAnswer(context, limits, methodsAt)).use(served)
  const { publicUrl } = context.config
  // Building the document takes as long as building all routes, so it waits for the first request.
  const document = () => openApiDocument(served, publicUrl)
  router.use(docsRoutes(document, access)).use(guideRoutes(publicUrl, access))
  return openEdge(context, { handle: async (request) => router.fetch(request) })
}
