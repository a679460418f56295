import { dlopen, FFIType, ptr } from 'bun:ffi'

// Bun and Node read ahead, and on loopback the kernel takes 2.8 MB from the server (measured). With the small segments
// of a real network it takes less than 100 kB, so the rest waits in the server as in production.

const int = FFIType.i32
const openLibc = () =>
  dlopen('libc.so.6', {
    socket: { args: [int, int, int], returns: int },
    setsockopt: { args: [int, int, int, FFIType.ptr, FFIType.u32], returns: int },
    connect: { args: [int, FFIType.ptr, FFIType.u32], returns: int },
    send: { args: [int, FFIType.ptr, FFIType.u64, int], returns: FFIType.i64 },
    recv: { args: [int, FFIType.ptr, FFIType.u64, int], returns: FFIType.i64 },
    close: { args: [int], returns: int },
  })

// The numbers are those of linux/socket.h and linux/tcp.h.
const [inet, stream, solSocket, receiveBuffer, tcp, maxSegment] = [2, 1, 1, 8, 6, 2] as const
const [peek, dontWait] = [0x02, 0x40] as const
const segmentBytes = 1_400
const receiveBytes = 4_096

/** Opens connections that GET this path and read nothing. It works on Linux only. */
export function openSlowReaders(
  port: number,
  path: string,
  count: number,
  headersOf: (connection: number) => string = () => '',
) {
  const { symbols: libc, close: closeLibc } = openLibc()
  const address = new Uint8Array(16)
  new DataView(address.buffer).setUint16(0, inet, true)
  new DataView(address.buffer).setUint16(2, port)
  address.set([127, 0, 0, 1], 4)
  const requestOf = (connection: number) =>
    new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nHost: gateway\r\n${headersOf(connection)}\r\n`)
  const option = (fd: number, level: number, name: number, value: number) =>
    libc.setsockopt(fd, level, name, ptr(new Int32Array([value])), 4)
  const openOne = (connection: number): number => {
    const request = requestOf(connection)
    const fd = libc.socket(inet, stream, 0)
    option(fd, tcp, maxSegment, segmentBytes)
    option(fd, solSocket, receiveBuffer, receiveBytes)
    if (libc.connect(fd, ptr(address), address.length) !== 0) throw new Error('connection refused')
    if (Number(libc.send(fd, ptr(request), BigInt(request.length), 0)) !== request.length)
      throw new Error('the request was not sent')
    return fd
  }
  const open = Array.from({ length: count }, (_, connection) => openOne(connection))
  return {
    /** Reads the statuses without consuming the responses. */
    statuses: (): number[] =>
      open.flatMap((fd) => {
        const bytes = new Uint8Array(16)
        const read = Number(libc.recv(fd, ptr(bytes), BigInt(bytes.length), peek | dontWait))
        return read === bytes.length ? [Number(new TextDecoder().decode(bytes.slice(9, 12)))] : []
      }),
    [Symbol.dispose]: () => {
      for (const fd of open) libc.close(fd)
      closeLibc()
    },
  }
}

/** Least length in bytes of a large answer; smaller ones fit into the socket's buffer. */
const largeBytes = 16_384

/** Returns the paths of large answers: documentation, its assets and the configuration. */
export async function largePathsOf(gateway: string): Promise<string[]> {
  const headers = { 'x-forwarded-for': '10.2.0.1' }
  const read = async (path: string) => (await fetch(`${gateway}${path}`, { headers })).text()
  const linked = (text: string) => [...text.matchAll(/(?:href|src)="(\/[^"#]*)/g)].map(([, path]) => path!)
  const pages = await Promise.all(['/docs', '/docs/guide'].map(read))
  const paths = new Set([...pages.flatMap(linked), '/docs/client.tgz', '/llms.txt', '/config'])
  const found: string[] = []
  for (const path of paths) if ((await read(path)).length > largeBytes) found.push(path)
  return found
}
