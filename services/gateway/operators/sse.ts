export type SsePush = (event: string, data: unknown) => void

/** Interval of heartbeats, in ms. Proxies and this server close a connection that is idle for about a minute. */
const beatMs = 15_000

/** Maximum number of bytes that wait for a slow page; beyond it the connection is closed and the page reconnects. */
const waitingBytesMax = 1024 * 1024

/**
 * Opens a stream of events. Calls the function that `start` returns when the page leaves or is too slow, or
 * this instance shuts down.
 */
export function sseResponse(leaving: AbortSignal, start: (push: SsePush) => () => void): Response {
  let end = () => {}
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let stop: (() => void) | undefined
        let ended = false
        end = () => {
          ended = true
          clearInterval(beating)
          leaving.removeEventListener('abort', close)
          stop?.()
          stop = undefined
        }
        const write = (text: string) => {
          if (ended) return
          controller.enqueue(new TextEncoder().encode(text))
          if ((controller.desiredSize ?? 0) <= 0) close()
        }
        const close = () => {
          end()
          controller.close()
        }
        leaving.addEventListener('abort', close, { once: true })
        const beating = setInterval(() => write(': still here\n\n'), beatMs)
        if (leaving.aborted) return close() // The abort came before the listener.
        stop = start((event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
        if (ended) end()
      },
      cancel: () => end(),
    },
    { highWaterMark: waitingBytesMax, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
  return new Response(body, { headers })
}
