/** Smaller bodies fit into the socket's buffer, which the kernel bounds. */
export const streamedFromBytes = 16 * 1024
const chunkBytes = 16 * 1024
/** Maximum bytes of all bodies whose clients have not taken them yet. */
const untakenBytesMax = 32 * 1024 * 1024

type Untaken = { readonly bytes: number; readonly drop: () => void }

/**
 * Opens the account of bodies that are being sent. A large body is handed to the server in chunks, as its
 * client takes them. If the untaken bodies together exceed the limit, the one that has been waiting longest is
 * dropped with its connection: it is that of a slow reader. Each connection has one body at a time, and the
 * server itself (Bun 1.4.5) ends a connection that has taken nothing for 10 s.
 */
export function openOutgoing(bytesMax = untakenBytesMax) {
  const untaken = new Set<Untaken>() // In the order in which they began.
  let untakenBytes = 0
  const remove = (one: Untaken) => {
    if (untaken.delete(one)) untakenBytes -= one.bytes
  }
  /** Returns what to send for this body. */
  return (body: string): string | Response => {
    if (body.length < streamedFromBytes) return body
    const bytes = new TextEncoder().encode(body)
    let position = 0
    let one: Untaken | undefined
    const stream = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          const drop = () => controller.error(new Error('slow reader dropped'))
          one = { bytes: bytes.byteLength, drop }
          untaken.add(one)
          untakenBytes += one.bytes
        },
        pull(controller) {
          controller.enqueue(bytes.subarray(position, position + chunkBytes))
          position += chunkBytes
          if (position < bytes.byteLength) return
          remove(one!)
          controller.close()
        },
        cancel: () => remove(one!),
      },
      { highWaterMark: 0 },
    )
    for (const oldest of untaken) {
      if (untakenBytes <= bytesMax || oldest === one) break
      remove(oldest)
      oldest.drop()
    }
    return new Response(stream)
  }
}

/** Account of this process. */
export const outgoing = openOutgoing()
