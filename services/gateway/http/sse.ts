/** Sends an event of server-sent events; a client that reconnects names the last `id` in `Last-Event-ID`. */
export type SsePush = (event: string, data: unknown, id?: string) => void

/** A stream as its source sees it. */
export type SseStream = {
  readonly push: SsePush
  /** Ends the response, after which the client connects again. */
  readonly close: () => void
}

/** Headers of a stream. The last one keeps nginx from holding events back. */
export const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** Interval of heartbeats, in ms. Proxies and this server close a connection that is idle for about a minute. */
const beatMs = 15_000

/** Maximum number of bytes that wait for a slow page; beyond it the connection is closed and the page reconnects. */
const waitingBytesMax = 1024 * 1024

/**
 * Opens a stream of events. Calls the function that `start` returns when the page leaves or is too slow, or
 * this instance shuts down.
 */
export function sseResponse(leaving: AbortSignal, start: (stream: SseStream) => () => void): Response {
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
          if (ended) return
          end()
          controller.close()
        }
        leaving.addEventListener('abort', close, { once: true })
        const beating = setInterval(() => write(': still here\n\n'), beatMs)
        if (leaving.aborted) return close() // The abort came before the listener.
        const push: SsePush = (event, data, id) =>
          write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
        stop = start({ push, close })
        if (ended) end()
      },
      cancel: () => end(),
    },
    { highWaterMark: waitingBytesMax, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  return new Response(body, { headers: sseHeaders })
}
