import { pause } from '#platform/deadline'

export type Wire = AsyncDisposable & {
  readonly host: string
  /** Delays data in both directions. */
  readonly slow: (delayMs: number) => void
  /** Cuts connections without a close handshake, as a dead router does. */
  readonly cut: () => void
  /** Stalls data until `open`, without refusing connections. */
  readonly close: () => void
  readonly open: () => void
}

type End = { write(data: Uint8Array): number; terminate(): void }
type Way = {
  to: End | undefined
  waiting: { data: Uint8Array; dueAt: number }[]
  isMoving: boolean
}
type Connection = { ends: End[]; there: Way; back: Way; isOver: boolean }

const lookEveryMs = 5

export function openWire(target: { hostname: string; port: number }): Wire {
  const connections = new Set<Connection>()
  let delayMs = 0
  let isClosed = false

  const over = (connection: Connection) => {
    if (connection.isOver) return
    connection.isOver = true
    connections.delete(connection)
    for (const end of connection.ends) end.terminate()
  }
  const move = async (connection: Connection, way: Way) => {
    if (way.isMoving) return
    way.isMoving = true
    while (!connection.isOver && way.waiting.length > 0) {
      const [next] = way.waiting as [Way['waiting'][number]]
      if (isClosed || !way.to || next.dueAt > performance.now()) {
        await pause(lookEveryMs)
        continue
      }
      const written = way.to.write(next.data)
      if (written < next.data.length) next.data = next.data.subarray(Math.max(0, written))
      else way.waiting.shift()
      if (written <= 0) await pause(lookEveryMs)
    }
    way.isMoving = false
  }
  const pass = (connection: Connection, way: Way, data: Uint8Array) => {
    // The data are copied because the socket reuses its buffer.
    way.waiting.push({ data: data.slice(), dueAt: performance.now() + delayMs })
    void move(connection, way)
  }

  const server = Bun.listen<{ connection: Connection }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: async (socket) => {
        const connection: Connection = {
          ends: [socket],
          there: { to: undefined, waiting: [], isMoving: false },
          back: { to: socket, waiting: [], isMoving: false },
          isOver: false,
        }
        socket.data = { connection }
        connections.add(connection)
        await Bun.connect({
          ...target,
          socket: {
            open: (far) => {
              connection.ends.push(far)
              connection.there.to = far
              if (connection.isOver) far.terminate()
            },
            data: (_, data) => pass(connection, connection.back, data),
            close: () => over(connection),
            error: () => over(connection),
          },
        }).catch(() => over(connection))
      },
      data: ({ data: { connection } }, data) => pass(connection, connection.there, data),
      close: ({ data }) => over(data.connection),
      error: ({ data }) => over(data.connection),
    },
  })
  return {
    host: `127.0.0.1:${server.port}`,
    slow: (ms) => {
      delayMs = ms
    },
    cut: () => {
      for (const connection of [...connections]) over(connection)
    },
    close: () => {
      isClosed = true
    },
    open: () => {
      isClosed = false
    },
    [Symbol.asyncDispose]: async () => {
      for (const connection of [...connections]) over(connection)
      server.stop(true)
    },
  }
}
