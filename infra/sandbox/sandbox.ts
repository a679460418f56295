import { balanceEndpoints } from './balance'
import { openBook } from './book'
import { holderControls, holderEndpoints } from './channels/holder'
import type { Config } from './config'
import { type Context, nowMs } from './context'
import { bookControls } from './controls/book-controls'
import { chainControls } from './controls/chain-controls'
import { controlRoutes } from './controls/control'
import { identityControls } from './controls/identity-controls'
import { payerControls } from './controls/payer-controls'
import { paymentControls } from './controls/payment-controls'
import { payoutControls } from './controls/payout-controls'
import { noFaults } from './faults'
import { personaRoutes } from './identity/persona-routes'
import { sumsubRoutes } from './identity/sumsub-routes'
import { appRoutes } from './pages/app-route'
import { checkoutRoutes } from './pages/checkout-routes'
import { identityRoutes } from './pages/identity-routes'
import { authenticated } from './provider/auth'
import { disputeEndpoints } from './provider/dispute'
import { paymentEndpoints } from './provider/payment-endpoints'
import { planPayout } from './provider/payout'
import { payoutEndpoints } from './provider/payout-endpoints'
import { payoutV3Endpoints } from './provider/payout-v3'
import { planRefund } from './provider/refund'
import { refundEndpoints } from './provider/refund-endpoints'
import { planExpiry, sessionEndpoints } from './provider/session-endpoints'
import { transactionEndpoints } from './provider/transaction-endpoints'
import { openRandom } from './random'
import { routeTable, type SandboxRoute } from './route'
import { openTimers } from './timers'
import { openWebhookSender } from './webhooks/sender'

export type Sandbox = AsyncDisposable & { readonly url: string }

// Timeout of an idle connection, which is longer than `timeoutAfterAccept` stays silent.
const idleTimeoutSeconds = 120
const bodyBytesMax = 1_048_576

export function openSandbox(config: Config): Sandbox {
  let routes: ReturnType<typeof routeTable> = {}
  const server = Bun.serve({
    hostname: config.host,
    port: config.port,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: bodyBytesMax,
    routes,
    fetch: () => Response.json({ error_code: 'NOT_FOUND', message: 'No such path' }, { status: 404 }),
  })
  const url = `http://127.0.0.1:${server.port}`
  const context: Context = {
    config,
    publicUrl: config.publicUrl ?? url,
    book: openBook(config.bookPath),
    chance: openRandom(),
    timers: openTimers(),
    webhooks: openWebhookSender(() => context),
    faults: noFaults,
  }
  routes = routeTable(routesOf(context))
  server.reload({ routes })
  resume(context)
  return {
    url,
    async [Symbol.asyncDispose]() {
      context.timers.close()
      context.webhooks.close()
      await server.stop(true)
      context.book.close()
    },
  }
}

const dated = (context: Context, routes: readonly SandboxRoute[]): SandboxRoute[] =>
  routes.map(({ method, path, run }) => ({
    method,
    path,
    async run(request) {
      const response = await run(request)
      response.headers.set('Date', new Date(nowMs(context)).toUTCString())
      return response
    },
  }))

const routesOf = (context: Context): SandboxRoute[] => [
  { method: 'GET', path: '/health', run: () => Response.json({ status: 'ok' }) },
  ...appRoutes(context),
  ...dated(context, [
    ...authenticated(context, [
      ...sessionEndpoints,
      ...paymentEndpoints,
      ...refundEndpoints,
      ...disputeEndpoints,
      ...payoutEndpoints,
      ...payoutV3Endpoints,
      ...holderEndpoints,
      ...transactionEndpoints,
      ...balanceEndpoints,
    ]),
    ...sumsubRoutes(context),
    ...personaRoutes(context),
  ]),
  ...checkoutRoutes(context),
  ...identityRoutes(context),
  ...controlRoutes([
    ...payerControls(context),
    ...paymentControls(context),
    ...payoutControls(context),
    ...holderControls(context),
    ...identityControls(context),
    ...bookControls(context),
    ...chainControls(context),
  ]),
]

// Makes the changes that fell due while the sandbox was down.
function resume(context: Context): void {
  const { book, webhooks } = context
  for (const session of book.all('sessions')) {
    if (session.status === 'ACTIVE') planExpiry(context, session)
  }
  for (const payout of book.all('payouts')) planPayout(context, payout)
  for (const refund of book.all('refunds')) planRefund(context, refund)
  webhooks.resume()
}
