import { connect } from 'node:net'
import { generatePrivateKey } from 'viem/accounts'
import { type Person, personOf } from '#infra/demo/person'
import { bootStack, type Stack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { largePathsOf, openSlowReaders } from '../../attacks/slow-readers'
import { benchDir } from '../bench-dir'
import type { Figure } from '../figure'
import { memoryOf } from '../memory/process-memory'
import type { Options } from '../options'
import { quantile } from '../quantile'

const bench = 'floods'
const slowReaders = 1_000
const hostConnections = 16
const slowBodies = 1_000
/**
 * Pause in ms before a connection is opened again, so that this does not slow the honest users, who share the process.
 */
const reopenMs = 50

type Flood = { readonly name: string; readonly start: () => Disposable }

const addressOf = (number: number) => `10.1.${(number >> 8) & 255}.${number & 255}`

function atRate(perSecond: number, send: (number: number) => Promise<unknown>): Disposable {
  let number = 0
  const timer = setInterval(() => void send(number++).catch(() => {}), 1_000 / perSecond)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Returns floods from many addresses, each of which once stopped the gateway. */
async function floodsOf(stack: Stack): Promise<Flood[]> {
  const { gateway } = stack.info
  const port = Number(new URL(gateway).port)
  const from = (number: number) => ({ 'x-forwarded-for': addressOf(number) })
  const strangers = Array.from({ length: 100 }, () => personOf(stack.info, generatePrivateKey()))
  const session = (number: number, signature: string) => {
    const wallet = `0x${number.toString(16).padStart(40, '5')}`
    return `Service ${wallet}.${Math.floor(Date.now() / 1_000) + 60}.0x${signature}`
  }
  const signIn = (signature: string) => (number: number) =>
    fetch(`${gateway}/me`, {
      headers: { authorization: session(number, signature), ...from(number % 12) },
    })
  const askAs = (method: string, path: (number: number) => string) => (number: number) =>
    strangers[number % strangers.length]!.call(method, path(number), undefined, from(number))
  const cursor = (number: number) =>
    Buffer.from(JSON.stringify([new Date(number).toISOString(), 'x'])).toString('base64url')
  const reading = (path: string): Flood => ({
    name: `${slowReaders} readers of ${path} that take nothing`,
    start: () => openSlowReaders(port, path, slowReaders, (number) => `X-Forwarded-For: ${addressOf(number)}\r\n`),
  })
  return [
    ...(await largePathsOf(gateway)).map(reading),
    {
      name: '24 sign-ins/s with the signature of another key',
      start: () => atRate(24, signIn(`${'11'.repeat(64)}1b`)),
    },
    {
      name: '24 sign-ins/s as a contract wallet',
      start: () => atRate(24, signIn('11'.repeat(200))),
    },
    { name: 'malformed Host headers without a pause', start: () => sendHosts(port) },
    {
      name: `${slowBodies} bodies that never end`,
      start: () => sendBodies(port, slowBodies, 'Content-Length: 60000', 'x'.repeat(1_000), 500),
    },
    {
      name: `${hostConnections} bodies in chunks of a byte without a pause`,
      start: () => sendBodies(port, hostConnections, 'Transfer-Encoding: chunked', '1\r\nx\r\n'.repeat(100), 10),
    },
    {
      name: '24 verification links/s',
      start: () =>
        atRate(
          24,
          askAs('POST', () => '/me/verification'),
        ),
    },
    {
      name: '48 cursors/s',
      start: () =>
        atRate(
          48,
          askAs('GET', (number) => `/me/activity?cursor=${cursor(number)}`),
        ),
    },
  ]
}

function sendHosts(port: number): Disposable {
  const hosts = ['a b', '[::1', 'x:99999', '', 'a/b', 'é']
  const sockets = Array.from({ length: hostConnections }, (_, number) => {
    const request = `GET / HTTP/1.1\r\nHost: ${hosts[number % hosts.length]}\r\n\r\n`
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.on('data', () => socket.write(request)).on('error', () => {})
    return socket
  })
  return { [Symbol.dispose]: () => void sockets.map((socket) => socket.destroy()) }
}

function sendBodies(port: number, connections: number, form: string, part: string, everyMs: number): Disposable {
  let isOver = false
  const open = (number: number): ReturnType<typeof connect> => {
    const socket = connect(port, '127.0.0.1', () => {
      const from = `X-Forwarded-For: ${addressOf(number)}`
      socket.write(`POST /webhooks/payments HTTP/1.1\r\nHost: localhost\r\n${from}\r\n${form}\r\n\r\n`)
    })
    const timer = setInterval(() => socket.writable && socket.write(part), everyMs)
    socket.on('data', () => socket.destroy()).on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      setTimeout(() => {
        if (!isOver) sockets[number] = open(number)
      }, reopenMs)
    })
    return socket
  }
  const sockets: ReturnType<typeof connect>[] = []
  for (let number = 0; number < connections; number++) sockets.push(open(number))
  return {
    [Symbol.dispose]: () => {
      isOver = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Honest = { readonly quoteMs: number[]; readonly meMs: number[]; refused: number }

async function honest(stack: Stack, people: readonly Person[], seconds: number): Promise<Honest> {
  const seen: Honest = { quoteMs: [], meMs: [], refused: 0 }
  const timed = async (into: number[], ask: () => Promise<{ status: number }>) => {
    const startedAt = performance.now()
    const { status } = await ask().catch(() => ({ status: 0 }))
    if (status === 200) into.push(performance.now() - startedAt)
    else seen.refused++
  }
  const quote = (number: number) =>
    fetch(`${stack.info.gateway}/quote`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.9.0.${number % 250}` },
      body: JSON.stringify({ pair: 'USD/IDR' }),
    })
  const until = performance.now() + seconds * 1_000
  for (let number = 0; performance.now() < until; number++) {
    await timed(seen.quoteMs, () => quote(number))
    const who = number % people.length
    const headers = { 'x-forwarded-for': `10.9.1.${who}` }
    await timed(seen.meMs, () => people[who]!.call('GET', '/me', undefined, headers))
    await pause(50)
  }
  return seen
}

export async function benchFloods({ seconds, names }: Options, say: (line: string) => void): Promise<Figure[]> {
  if (!names.includes(bench)) return []
  using dir = benchDir()
  say('starting a stack with the limits of a deployment')
  await using stack = await bootStack({
    dir: dir.path,
    ports: 'free',
    durable: true,
    // The bench acts as the proxy, so each request can have its own address.
    env: { gateway: { TRUSTED_PROXIES: '127.0.0.1' } },
  })
  const people = Array.from({ length: 20 }, () => personOf(stack.info, generatePrivateKey()))
  const floods = [{ name: 'no flood', start: () => ({ [Symbol.dispose]: () => {} }) }, ...(await floodsOf(stack))]
  const figures: Figure[] = []
  for (const { name, start } of floods) {
    say(`floods: ${name}`)
    const memory = () => memoryOf(stack.process('gateway').pid() ?? 0).rssMb
    const before = memory()
    let peak = before
    using _watch = atRate(10, async () => {
      peak = Math.max(peak, memory())
    })
    using _flood = start()
    const seen = await honest(stack, people, seconds)
    const note = `${seen.refused} of ${seen.refused + seen.quoteMs.length + seen.meMs.length} refused`
    const of = (what: string, sample: number[]): Figure => ({
      bench,
      name: `${name}: ${what}, p95`,
      unit: 'ms',
      note,
      value: sample.length > 0 ? quantile(sample, 0.95) : null,
      ...(sample.length > 0 ? { ratio: { value: quantile(sample, 0.95) / quantile(sample, 0.5), to: 'p50' } } : {}),
    })
    figures.push(
      {
        bench,
        name: `${name}: gateway, peak`,
        value: peak,
        unit: 'MB',
        ratio: { value: peak / before, to: 'before' },
        aim: { of: 'value', bound: 'at most', limit: 400 },
      },
      of('POST /quote', seen.quoteMs),
      of('GET /me', seen.meMs),
    )
  }
  return figures
}
