import { openBook } from './book'
import type { Config } from './config'
import { nowMs, type SandboxContext } from './context'
import { bookControls } from './controls/book-controls'
import { chainControls } from './controls/chain-controls'
import { controlRoutes } from './controls/control-routes'
import { identityControls } from './controls/identity-controls'
import { eventControls, eventRoutes, openReceiver } from './events/receiver'
import { noFaults } from './faults'
import { personaRoutes } from './identity/persona-routes'
import { sumsubRoutes } from './identity/sumsub-routes'
import { openJournal } from './journal'
import { appRoutes } from './pages/app-route'
import { checkoutRoutes } from './pages/checkout-routes'
import { identityRoutes } from './pages/identity-routes'
import { openProvider, type ProviderCore, providerControls } from './provider/core'
import { providerRoutes } from './provider/routes'
import { openRandom, randomIds } from './random'
import { routeTable, type SandboxRoute } from './route'
import { openTimers } from './timers'
import { openWebhookSender } from './webhooks/sender'

export type Sandbox = AsyncDisposable & { readonly url: string }

// Timeout of an idle connection, which is longer than `timeoutAfterAccept` stays silent.
const idleTimeoutSeconds = 120
const bodyBytesMax = 1_048_576
/** As at the provider. */
const sessionLifeMinMs = 600_000

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
  const context: SandboxContext = {
    config: { ...config, sessionLifeMinMs },
    publicUrl: config.publicUrl ?? url,
    book: openBook(config.bookPath === null ? undefined : openJournal(config.bookPath)),
    clock: () => Date.now(),
    chance: openRandom(),
    ids: randomIds,
    timers: openTimers(),
    webhooks: openWebhookSender(() => context),
    faults: noFaults,
  }
  const provider = openProvider(context)
  const receiver = openReceiver(config.eventsSecrets)
  routes = routeTable([
    ...routesOf(context, provider),
    ...eventRoutes(receiver),
    ...controlRoutes(eventControls(receiver)),
  ])
  server.reload({ routes })
  // These changes fell due while the sandbox was down.
  provider.resume()
  context.webhooks.resume()
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

const dated = (context: SandboxContext, routes: readonly SandboxRoute[]): SandboxRoute[] =>
  routes.map(({ method, path, run }) => ({
    method,
    path,
    async run(request) {
      const response = await run(request)
      response.headers.set('Date', new Date(nowMs(context)).toUTCString())
      return response
    },
  }))

const routesOf = (context: SandboxContext, provider: ProviderCore): SandboxRoute[] => [
  { method: 'GET', path: '/health', run: () => Response.json({ status: 'ok' }) },
  ...appRoutes(context),
  ...providerRoutes(context, provider),
  ...dated(context, [...sumsubRoutes(context), ...personaRoutes(context)]),
  ...checkoutRoutes(context),
  ...identityRoutes(context),
  ...controlRoutes([
    ...providerControls(context),
    ...identityControls(context),
    ...bookControls(context),
    ...chainControls(context),
  ]),
]
