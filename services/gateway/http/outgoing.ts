import { openHeld } from './held'

/** Smaller bodies fit into the socket's buffer, which the kernel bounds. */
export const streamedFromBytes = 16 * 1024
/** `listen` ends such a connection if its client takes nothing. */
export const largeHeaders = { connection: 'close' }
const chunkBytes = 16 * 1024
/** Of all clients together. */
const untakenBytesMax = 32 * 1024 * 1024

/** Sends large bodies as clients take them. */
export function openOutgoing(bytesMax = untakenBytesMax) {
  const hold = openHeld(bytesMax)
  return (body: string): string | Response => {
    if (Buffer.byteLength(body) < streamedFromBytes) return body
    const bytes = new TextEncoder().encode(body)
    let position = 0
    let release = () => {}
    const stream = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          const drop = () => controller.error(new Error('slow reader dropped'))
          release = hold(bytes.byteLength, drop)
        },
        pull(controller) {
          controller.enqueue(bytes.subarray(position, position + chunkBytes))
          position += chunkBytes
          if (position < bytes.byteLength) return
          release()
          controller.close()
        },
        cancel: () => release(),
      },
      { highWaterMark: 0 },
    )
    return new Response(stream, { headers: largeHeaders })
  }
}

export const outgoing = openOutgoing()
