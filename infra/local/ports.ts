import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** Returns `wanted` if it is free, else another free port. 0 stands for any port. */
export async function freePort(wanted = 0): Promise<number> {
  const port = await bind(wanted)
  if (port !== undefined) return port
  const other = await bind(0)
  if (other === undefined) throw new Error('no free port on this machine')
  return other
}

const bind = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })

export class PortTaken extends Error {
  override name = 'PortTaken'
  constructor(process: string) {
    super(`${process} found its port taken by another process`)
  }
}

export const diedOfItsPort = (logFile: string): boolean =>
  existsSync(logFile) && /address already in use|EADDRINUSE|port \d+ in use/i.test(readFileSync(logFile, 'utf8'))
