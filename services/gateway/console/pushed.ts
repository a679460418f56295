/** What a page is sent: an event of a name, with what belongs to it. */
export type Push = (event: string, data: unknown) => void

/** Proxies, and this server, close a connection on which nothing is said for a minute or so. */
const beatMs = 15_000

/** So much may wait for a page that does not read; then it is left, and connects again. */
const waitingBytesMax = 1024 * 1024

/**
 * Server-sent events: what `start` pushes, until the page goes away or reads too slowly, or this copy
 * leaves, so that its end waits for no page; each of these calls what `start` returned.
 */
export function pushing(leaving: AbortSignal, start: (push: Push) => () => void): Response {
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
