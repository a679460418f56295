import { beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { newUser } from '../support/people'
import { sharedStack } from '../support/stack'
import { waitUntil } from '../support/wait'

let stack: RunningStack
let person: Person
beforeAll(async () => {
  stack = await sharedStack()
  person = await newUser(stack)
})

const wanted = 10_000
/** Least number of connections that must open; a quiet machine opens all within two seconds. */
const leastOpen = 1_000
/** Number of files and sockets that are open anyway. */
const othersMax = 1_000
/** Memory in MB that may remain after the connections. */
const keptMaxMb = 64

/** Returns the most files of a process. Bun raises its own limit to the system's maximum. */
function filesMax(pid: number | 'self'): number {
  const [, max] = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? []
  return Number(max)
}
const filesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length
function memoryMb(pid: number): number {
  const [, kb] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}

/** Opens idle connections, of which every second one sends half a request and then nothing. */
function openIdle() {
  const { hostname, port } = new URL(stack.info.gateway)
  const open = new Set<{ end: () => void }>()
  const openOne = async (says: string): Promise<void> => {
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: () => {},
        close: (ended) => void open.delete(ended),
      },
    })
    if (says) socket.write(says)
    if (socket.readyState > 0) open.add(socket)
  }
  return {
    count: () => open.size,
    fillUpTo: async (count: number) => {
      for (let before = -1; open.size > before; ) {
        before = open.size
        const missing = Math.min(500, count - open.size)
        if (missing <= 0) return
        const says = (at: number) => (at % 2 === 0 ? '' : 'GET /config HTTP/1.1\r\nHo')
        await Promise.all(Array.from({ length: missing }, (_, at) => openOne(says(at))))
      }
    },
    endAll: () => {
      for (const socket of open) socket.end()
    },
  }
}

test('10,000 idle connections do not affect other clients, and all are closed in the end', async () => {
  const gateway = stack.info.services.gateway!.pid
  const room = Math.min(filesMax('self'), filesMax(gateway)) - othersMax
  const count = Math.min(wanted, room)
  if (count < wanted) console.log(`only ${count} connections: the system allows no more open files`)
  const before = { files: filesOf(gateway), memoryMb: memoryMb(gateway) }
  const idle = openIdle()
  try {
    await idle.fillUpTo(count)
    const opened = idle.count()
    if (opened < count) console.log(`only ${opened} connections: the first were ended before the last`)
    expect(opened).toBeGreaterThan(leastOpen)
    expect(filesOf(gateway)).toBeGreaterThan(opened * 0.9)
    const statuses: number[] = []
    for (let asked = 0; asked < 5; asked++) {
      statuses.push((await person.get('/me')).status)
      statuses.push((await fetch(`${stack.info.gateway}/config`)).status)
    }
    // A busy machine sometimes answers 503.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(5)
    await waitUntil('the gateway having ended all of them', () => idle.count() === 0)
  } finally {
    idle.endAll()
  }
  await waitUntil('their files being closed', () => filesOf(gateway) < before.files + 100)
  await waitUntil(
    `their memory being given back, ${before.memoryMb.toFixed()} MB before`,
    () => memoryMb(gateway) < before.memoryMb + keptMaxMb,
  )
})
