import type { Ask } from '#platform/bus/ask'
import type { Bus } from '#platform/bus/open'
import type { Log } from '#platform/log'
import { startLoop } from '#platform/loop'
import { ConsoleWatch, type FeedEvent, feedSubject, type Recent } from '#shared/messages/operations'
import type { SsePush } from '../http/sse'
import { answerOperatorQuestion } from './questions'

export type PageFeed = {
  /** Passes events on until the returned function is called. Sends `deaf` while the feed is not live. */
  readonly watch: (token: string, push: SsePush) => () => void
}

/** Interval at which a page renews the feed, in ms: within the lease of `operations`. */
const renewMs = 5_000
/** Deadline of a renewal, in ms. */
const answerMs = 4_000

/** Opens the feed, with one subscription for each open page. */
export function openFeed(options: {
  readonly bus: Pick<Bus, 'nc'>
  readonly ask: Ask
  readonly log: Log
  readonly renewMs?: number
}): PageFeed {
  const { bus, ask, log } = options
  return {
    watch: (token, push) => {
      let isLive = false
      const subscription = bus.nc.subscribe(feedSubject, {
        callback: (error, message) => {
          // Messages before the first answer are dropped, because that answer contains them.
          if (error || !isLive) return
          const { event, data } = message.json<FeedEvent>()
          push(event, data)
        },
      })
      const deaf = (reason: string) => {
        isLive = false
        push('deaf', { reason })
      }
      const renew = async () => {
        const asked = ask(ConsoleWatch, { token, recent: !isLive }, answerMs)
        const answer = await answerOperatorQuestion(asked, log)
        if ('fault' in answer) return deaf(answer.fault)
        const recent = answer.shown as Recent
        for (const { event, data } of recent.events) push(event, data)
        if (recent.deaf !== null) return deaf(recent.deaf)
        if (!isLive) push('listening', {})
        isLive = true
      }
      const everyMs = options.renewMs ?? renewMs
      const loop = startLoop({ name: 'console feed', everyMs, log, work: renew })
      return () => {
        subscription.unsubscribe()
        void loop[Symbol.asyncDispose]()
      }
    },
  }
}
