import { describe, expect, test } from 'bun:test'
import { peek } from 'bun'
import { pause } from '#platform/deadline'
import { bodyBytesMax, readBytes } from './body'
import { failureHeaders, failureOf } from './failure'

function arriving(headers: Record<string, string>) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const request = new Request('http://gateway.internal/quote', {
    method: 'POST',
    headers,
    body: readable,
  })
  const read = readBytes(request).then(
    (bytes) => bytes.byteLength,
    (error: Error) => {
      const failure = failureOf(error, 0)
      return `${failure.status} ${failureHeaders(failure)['x-error-code']}: ${error.message}`
    },
  )
  const deliver = async (text: string) => {
    const writer = writable.getWriter()
    await writer.write(new TextEncoder().encode(text))
    await writer.close()
  }
  return { read, deliver }
}

describe('security: while bodies of 32 MiB are arriving, a further one ends the wait for the oldest', () => {
  const fillingUp = (32 * 1024 * 1024) / bodyBytesMax
  test.each([
    ['with a length', { 'content-length': String(bodyBytesMax) }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('%s', async (_, headers) => {
    const [oldest, ...others] = Array.from({ length: fillingUp }, () => arriving(headers))
    const newest = arriving(headers)
    await pause(0)
    const settled = [oldest!, ...others, newest].filter(({ read }) => !(peek(read) instanceof Promise))
    expect(settled).toEqual([oldest!])
    // The client repeats a request after this code, and not after that of a bad request.
    expect(await oldest!.read).toBe('408 too_slow: the body did not arrive in time')
    const delivered = [...others, newest].map(async ({ read, deliver }) => {
      await deliver('{}')
      return read
    })
    expect(new Set(await Promise.all(delivered))).toEqual(new Set([2]))
  })
})

describe('a body in chunks', () => {
  const sent = async (chunks: readonly string[]) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        controller.close()
      },
    })
    return readBytes(new Request('http://gateway.internal/quote', { method: 'POST', body }))
  }
  test('may have 1,000 of them', async () => {
    expect((await sent(Array.from({ length: 1_000 }, () => 'x'))).byteLength).toBe(1_000)
  })
  // 10,000 chunks took 19 ms, also for a refused request.
  test('security: may not have 2,000', async () => {
    await expect(sent(Array.from({ length: 2_000 }, () => 'x'))).rejects.toThrow('the body has more than 1,024 chunks')
  })
})
