import type { Bus } from '#platform/bus/open'
import type { App } from '../app'
import type { Context } from '../context'
import { openConsole } from './console'
import { openFeed } from './feed'
import { openSandbox } from './sandbox'

export function runConsole(
  { config, ask, log, leaving }: Pick<Context, 'config' | 'ask' | 'log' | 'leaving'>,
  bus: Pick<Bus, 'nc'>,
  operators: App,
): App {
  const { sandboxControlsUrl: url, sandboxControlsToken: token } = config
  const parts = {
    token: config.consoleToken,
    hosts: config.opsAllowedHosts,
    ask,
    log,
    leaving,
    feed: openFeed({ bus, ask, log }),
    ...(url === '' ? {} : { sandbox: openSandbox({ url, token }) }),
  }
  return openConsole(parts, operators)
}
