import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'

const lowest = 10_000
/** The kernel gives the ports from here on to outgoing connections (Linux: `ip_local_port_range`). */
const lowestOutgoing = 32_768
let last = lowest + Math.floor(Math.random() * (lowestOutgoing - lowest))

/**
 * Returns `wanted` if it is free, else another free port. 0 stands for any port. The other port is none that an outgoing
 * connection can take before its process listens, and none that this process was given a moment ago.
 */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted))) return wanted
  for (let tries = lowest; tries < lowestOutgoing; tries++) {
    last = last + 1 < lowestOutgoing ? last + 1 : lowest
    const port = last
    if (await isFree(port)) return port
  }
  throw new Error('no free port on this machine')
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })

export class PortTaken extends Error {
  override name = 'PortTaken'
  constructor(process: string) {
    super(`${process} found its port taken by another process`)
  }
}

export const diedOfItsPort = (logFile: string): boolean =>
  existsSync(logFile) && /address already in use|EADDRINUSE|port \d+ in use/i.test(readFileSync(logFile, 'utf8'))
