import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { groupStack } from '../runner/group'
import { newUser } from '../support/people'
import { waitUntil } from '../support/wait'
import { largePathsOf, openSlowReaders } from './slow-readers'

const readers = 1_000
/** Largest growth in MB: sockets and requests, but no copies of the answers. */
const grownMaxMb = 150
const honestRequests = 12

let stack: Stack
let people: Person[]
let quietFiles: number
beforeAll(async () => {
  stack = groupStack()
  people = await Promise.all(Array.from({ length: 4 }, () => newUser(stack)))
  quietFiles = openFiles()
})
function memoryMb(): number {
  const status = readFileSync(`/proc/${stack.process('gateway').pid()}/status`, 'utf8')
  const [, kb] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? []
  return Number(kb) / 1024
}

const openFiles = () => readdirSync(`/proc/${stack.process('gateway').pid()}/fd`).length

/** Returns the slowest request in ms. */
async function honest(): Promise<number> {
  let slowestMs = 0
  const statuses: number[] = []
  for (let request = 0; request < honestRequests; request++) {
    const startedAt = performance.now()
    const { status } = await people[request % people.length]!.get('/me')
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    statuses.push(status)
    await pause(25)
  }
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(honestRequests / 2)
  return slowestMs
}

async function flood(path: string, headersOf: (connection: number) => string) {
  const port = Number(new URL(stack.info.gateway).port)
  const before = memoryMb()
  using slow = openSlowReaders(port, path, readers, headersOf)
  const slowestMs = await honest()
  const statuses = await waitUntil(`${path} being answered`, () => {
    const seen = slow.statuses()
    return seen.length > readers * 0.9 && seen
  })
  const grownMb = memoryMb() - before
  const served = statuses.filter((status) => status === 200).length
  console.log(
    `${path}: ${served} of ${readers} served, ${Math.round(grownMb)} MB more, slowest honest request ${Math.round(slowestMs)} ms`,
  )
  return { served, grownMb, statuses }
}

describe('security: 1,000 connections that request and take nothing leave honest users alone', () => {
  test('from one address: its limit refuses most of them', async () => {
    const { served, grownMb } = await flood('/docs/swagger-ui-bundle.js', () => '')
    expect(served).toBeLessThanOrEqual(120 * 2)
    expect(grownMb).toBeLessThan(grownMaxMb)
  })
  test('and are closed long before an idle connection is', async () => {
    const fewOpen = () => openFiles() < quietFiles + 50
    await waitUntil('the connections of the flood before being closed', fewOpen)
    using slow = openSlowReaders(
      Number(new URL(stack.info.gateway).port),
      '/docs/swagger-ui-bundle.js',
      200,
      (connection) => `X-Forwarded-For: 10.3.0.${connection}\r\n`,
    )
    await waitUntil('all being answered', () => slow.statuses().length === 200)
    expect(openFiles()).toBeGreaterThan(quietFiles + 150)
    await waitUntil('all being closed', fewOpen, 40_000)
  })
  test('from 1,000 addresses, on every path with a large answer', async () => {
    const address = (connection: number) => `10.1.${connection >> 8}.${connection & 255}`
    const headersOf = (connection: number) => `X-Forwarded-For: ${address(connection)}\r\n`
    const paths = await largePathsOf(stack.info.gateway)
    expect(paths).toContain('/docs/swagger-ui-bundle.js')
    expect(paths).toContain('/openapi.json')
    for (const path of paths) {
      const { grownMb, statuses } = await flood(path, headersOf)
      expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([])
      expect(grownMb).toBeLessThan(grownMaxMb)
    }
  })
})
