import { openHeld } from './held'

/** Smaller bodies fit into the socket's buffer, which the kernel bounds. */
export const streamedFromBytes = 16 * 1024
/** Headers of larger bodies: `listen` ends such a connection if its client takes nothing. */
export const largeHeaders = { connection: 'close' }
const chunkBytes = 16 * 1024
/** Maximum bytes of all bodies whose clients have not taken them yet. */
const untakenBytesMax = 32 * 1024 * 1024

/**
 * Opens the account of bodies that are being sent. A large body is handed to the server in chunks, as its
 * client takes them. If the untaken bodies together exceed the limit, the one that has been waiting longest is
 * dropped with its connection: it is that of a slow reader. Each connection has one body at a time.
 */
export function openOutgoing(bytesMax = untakenBytesMax) {
  const hold = openHeld(bytesMax)
  /** Returns what to send for this body. */
  return (body: string): string | Response => {
    if (body.length < streamedFromBytes) return body
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

/** Account of this process. */
export const outgoing = openOutgoing()
