import { openHeld } from './held'

/** Size from which bodies are streamed; smaller ones fit into the socket's buffer, which the kernel bounds. */
export const streamedFromBytes = 16 * 1024
/** Headers of a large response. `listen` ends its connection if the client takes nothing. */
export const largeHeaders = { connection: 'close' }
const chunkBytes = 16 * 1024
/** Maximum size of all bodies in total that clients have not taken yet. */
const untakenBytesMax = 32 * 1024 * 1024

/** Sends large bodies at the pace of their clients. */
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
