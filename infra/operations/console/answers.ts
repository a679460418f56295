import { type Handler, handler } from '#platform/bus/serve'
import type { Log } from '#platform/log'
import { tokenMatcher } from '#shared/api/console-token'
import { ConsoleAttention, ConsoleFind, ConsoleItem, ConsoleWatch, type Shown } from '#shared/messages/operations'
import { ok } from '#shared/refusals'
import type { LiveFeed } from './feed'
import type { Items } from './items'

/**
 * Returns the handlers of the page's questions, which the gateway passes on with the operator's token. The handlers
 * only read.
 */
export function consoleAnswers(options: {
  readonly token: string
  readonly items: Pick<Items, 'read' | 'find' | 'attention'>
  readonly feed: LiveFeed
  readonly log: Log
}): Handler[] {
  const { items, feed, log } = options
  const isToken = tokenMatcher(options.token)
  const shown = async (token: string, read: () => Promise<unknown>) => {
    if (!isToken(token)) return ok<Shown>({ fault: 'token' })
    return read().then(
      (found) => ok<Shown>({ shown: found }),
      (error) => {
        log.warn({ err: error }, 'console read failed')
        return ok<Shown>({ fault: 'unreadable' })
      },
    )
  }
  return [
    handler(ConsoleItem, ({ token, id }) => shown(token, () => items.read(id))),
    handler(ConsoleFind, ({ token, search }) => shown(token, () => items.find(search))),
    handler(ConsoleAttention, ({ token }) => shown(token, () => items.attention())),
    handler(ConsoleWatch, ({ token, recent }) => shown(token, () => feed.renew(recent))),
  ]
}
