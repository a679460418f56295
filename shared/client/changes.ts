import { backoffMs } from '#platform/backoff'
import { pause } from '#platform/deadline'
import { GetEvents } from '#shared/api/activity'
import type { ClientTarget } from '#shared/client/exchange'
import { serverMsOf } from '#shared/client/refusal'
import type { openSession } from '#shared/client/session'

export type Watching = {
  /** Signal that ends the watch. */
  readonly signal: AbortSignal
  /** Interval in ms between calls on a platform that cannot read a response while it arrives. The default is 5 s. */
  readonly everyMs?: number
}

/** Longest silence of a stream in ms. The service writes every 15 s. */
const silenceMaxMs = 40_000
const pauseFirstMs = 500
/** Life of a stream in ms after which its end is no fault, so that the client connects again soon. */
const steadyMs = 30_000
const pauseMaxMs = 15_000

/** Returns true if a response can be read while it arrives, which the `fetch` of React Native cannot. */
const hasStreams = (): boolean => typeof Response !== 'undefined' && 'body' in Response.prototype

/**
 * Calls `onChange` at once, and after each change of the account or its activity, until the signal fires. A lost connection
 * is opened again, after which the service repeats what was missed. If the user declines to sign, the watch waits until
 * another request has a session. Never throws.
 */
export async function watchChanges(
  place: ClientTarget,
  session: ReturnType<typeof openSession>,
  onChange: () => void,
  { signal, everyMs = 5_000 }: Watching,
): Promise<void> {
  let lastId = ''
  let failures = 0
  /** True once the user declined to sign, until another request has a session. */
  let isDeclined = false
  onChange()
  while (!hasStreams() && !signal.aborted) {
    await pause(everyMs, signal)
    // Without a session, whatever the caller reads would ask for a signature.
    if (!signal.aborted && (await sessionOf()) && !signal.aborted) onChange()
  }
  while (!signal.aborted) {
    const beganAt = performance.now()
    await follow().catch(() => {})
    // A service with too many streams ends one at once.
    failures = performance.now() - beganAt > steadyMs ? 0 : failures + 1
    const restMs = backoffMs({ firstMs: pauseFirstMs, maxMs: pauseMaxMs }, failures)
    // The jitter keeps clients that lost their connections together from returning together.
    await pause(restMs * (0.5 + Math.random() / 2), signal)
  }

  /** Asks for a signature, but not again after the user declined, because a watch does not end by itself. */
  async function sessionOf(): Promise<string | undefined> {
    const known = isDeclined ? await session.known() : await session.header().catch(() => undefined)
    isDeclined = known === undefined
    return known
  }

  /** Reads one stream to its end, if it can be opened. Throws if the connection is lost. */
  async function follow(): Promise<void> {
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop, { once: true })
    let timer = setTimeout(stop, silenceMaxMs)
    try {
      const authorization = await sessionOf()
      if (!authorization) return
      const response = await (place.fetch ?? fetch)(`${place.baseUrl.replace(/\/$/, '')}${GetEvents.path}`, {
        method: GetEvents.method,
        headers: { authorization, ...(lastId && { 'last-event-id': lastId }) },
        signal: attempt.signal,
      })
      if (response.status === 401) await session.forget(authorization, serverMsOf(response.headers))
      if (response.status !== 200 || !response.body) return
      const reader = response.body.getReader()
      const decoder = new TextDecoder()
      let text = ''
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return
        clearTimeout(timer)
        timer = setTimeout(stop, silenceMaxMs)
        const events = (text + decoder.decode(value, { stream: true })).split('\n\n')
        text = events.pop()!
        for (const event of events) {
          if (!/^event: changed$/m.test(event)) continue
          lastId = /^id: (.+)$/m.exec(event)?.[1] ?? lastId
          onChange()
        }
      }
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }
}
