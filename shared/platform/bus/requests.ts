import { createInbox, type Msg, type MsgHdrs } from 'nats'
import type { Bus } from '#platform/bus/open'
import { endOfTurn } from '#platform/bus/queue'
import { DeadlinePassed } from '#platform/deadline'

export class NobodyThere extends Error {
  override name = 'NobodyThere'
}

/** A request in progress, whose `id` is the reply subject. */
export type SentRequest = { readonly id: string; readonly answer: Promise<Msg> }

export type Requests = {
  /** Sends a request. The answer rejects with `NobodyThere`, or with `DeadlinePassed` after `timeoutMs`. */
  readonly send: (
    subject: string,
    body: string,
    options: { readonly headers?: MsgHdrs | undefined; readonly timeoutMs: number },
  ) => SentRequest
}

/**
 * Opens one reply subscription for all requests. An entry per request costs an eighth of the subscription that nats
 * 2.29 creates for each (measured).
 */
export function openRequests({ nc, inboxPrefix }: Bus): Requests {
  const inbox = createInbox(inboxPrefix)
  const waiting = new Map<string, (answer: Msg) => void>()
  let count = 0
  nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (!error) waiting.get(message.subject)?.(message)
    },
  })
  return {
    send: (subject, body, { headers, timeoutMs }) => {
      count += 1
      const id = `${inbox}.${count}`
      const { promise, resolve, reject } = Promise.withResolvers<Msg>()
      const end = () => {
        clearTimeout(timer)
        waiting.delete(id)
      }
      const timer = setTimeout(() => {
        end()
        reject(new DeadlinePassed(subject, timeoutMs))
      }, timeoutMs)
      waiting.set(id, (message) => {
        end()
        if (isNobody(message)) reject(new NobodyThere(subject))
        else resolve(message)
      })
      const publish = () => {
        try {
          nc.publish(subject, body, { reply: id, ...(headers ? { headers } : {}) })
        } catch (error) {
          end()
          reject(error)
        }
      }
      void endOfTurn().then(publish)
      return { id, answer: promise }
    },
  }
}

/** Returns true for the response of the server itself if there is no subscription. */
const isNobody = ({ data, headers }: Msg): boolean => data.length === 0 && headers?.code === 503
