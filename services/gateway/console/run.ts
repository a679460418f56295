import { openBus } from '#shared/bus/open'
import { databaseUrlOf } from '#shared/db/url'
import type { App } from '../app'
import type { Context } from '../context'
import { openConsole } from './console'
import { openItems } from './items'
import { openLive } from './live'
import { openOverview } from './overview'
import { openSandbox } from './sandbox'

/** Puts the console in front of the operators' listener and opens its connections. */
export function runConsole(
  context: Context,
  operators: App,
): AsyncDisposable & { readonly app: App } {
  const { config, clock, log, health, leaving } = context
  const password = config.natsPasswordConsole
  const bus = { url: config.natsUrl, user: 'console', password, name: 'console', log }
  const live =
    password === ''
      ? { silent: 'Live messages are unavailable: NATS_PASSWORD_CONSOLE is not set.' }
      : openLive({ open: () => openBus({ ...bus, onFatal: () => {} }), clock, log })
  const { consoleDatabaseUrl: databaseUrl, consoleDatabasePassword: databasePassword } = config
  const items =
    databaseUrl === '' || 'silent' in live
      ? {
          silent:
            'Items are unavailable: CONSOLE_DATABASE_URL or NATS_PASSWORD_CONSOLE is not set.',
        }
      : openItems({
          ...{ clock, bus: live.bus },
          databaseUrl: databaseUrlOf({ databaseUrl, databasePassword }),
        })
  const overview = openOverview({
    ...{ clock, log },
    gatherStats: health.gatherStats,
    ownFigures: health.figures,
    readiness: health.readiness,
    queues: async () => ('silent' in live ? silent(live) : live.queues()),
    metrics: async () => {
      const [own, others] = await Promise.all([health.ownMetrics(), health.gatherMetrics()])
      return [own, ...others.map(({ text }) => text)].join('\n')
    },
    standing: async () => ('silent' in items ? silent(items) : items.standing()),
  })
  const { sandboxControlsUrl: url, sandboxControlsToken: token } = config
  const parts = {
    token: config.consoleToken,
    hosts: config.opsAllowedHosts,
    live,
    ...{ overview, items, log, leaving },
    ...(url === '' ? {} : { sandbox: openSandbox({ url, token }) }),
  }
  const app = openConsole(parts, operators)
  return {
    app,
    [Symbol.asyncDispose]: async () => {
      await overview[Symbol.asyncDispose]()
      if (!('silent' in items)) await items[Symbol.asyncDispose]()
      if (!('silent' in live)) await live[Symbol.asyncDispose]()
    },
  }
}

const silent = (part: { silent: string }): never => {
  throw new Error(part.silent)
}
