import { describe, expect, test } from 'bun:test'
import { added, curlOf, type LoggedRequest, nameOf, withoutSecrets } from './request-log'

const ask = (id: number, rest: Partial<LoggedRequest> = {}): LoggedRequest => ({
  id,
  number: id,
  method: 'GET',
  url: 'http://127.0.0.1:3000/me',
  headers: {},
  times: 1,
  ...rest,
})
const rpc = (id: number, method: string) =>
  ask(id, {
    method: 'POST',
    url: 'http://127.0.0.1:8545',
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: [] }),
  })

describe('the request log', () => {
  test('the request log shows an answer at its request, and a repeated question once with its newest answer', () => {
    const order = { method: 'POST', url: 'http://127.0.0.1:3000/topups', body: '{"method":"qr"}' }
    const log = [
      ask(1),
      ask(2, order),
      ask(2, { ...order, status: 200 }),
      ask(3),
      ask(3, { status: 200 }),
      ask(4, order),
    ].reduce<readonly LoggedRequest[]>(added, [])
    expect(log.map(({ method, status, times }) => [method, status, times])).toEqual([
      ['POST', undefined, 1],
      ['POST', 200, 1],
      ['GET', 200, 2],
    ])
  })

  test('the request log counts each of several concurrent requests once, and shows the answer to the newest', () => {
    const [first, second] = [ask(1), ask(2)]
    const log = [first, second, ask(2, { answer: 'new' }), ask(1, { answer: 'old' })].reduce<readonly LoggedRequest[]>(
      added,
      [],
    )
    expect(log.map(({ times, answer }) => [times, answer])).toEqual([[2, 'new']])
  })

  test('the request log never merges transactions, and names a call to the chain by its method', () => {
    const sent = [rpc(1, 'eth_sendRawTransaction'), rpc(2, 'eth_sendRawTransaction')]
    const read = [rpc(3, 'eth_getBalance'), rpc(4, 'eth_getBalance')]
    const log = [...sent, ...read].reduce<readonly LoggedRequest[]>(added, [])
    expect(log.map((one) => [nameOf(one), one.times])).toEqual([
      ['POST eth_getBalance', 2],
      ['POST eth_sendRawTransaction', 1],
      ['POST eth_sendRawTransaction', 1],
    ])
  })

  test('the request log never contains the session, because its header signs in', () => {
    const headers = withoutSecrets({ authorization: 'Service 0x1.2.0x3', 'accept-language': 'id' })
    expect(headers).toEqual({ authorization: '$SESSION', 'accept-language': 'id' })
  })
})

test('a copied command is run by a shell as the page sent it', async () => {
  const body = JSON.stringify({ name: `O'Brien $HOME "x" \`id\`` })
  const command = curlOf(
    ask(1, {
      method: 'POST',
      url: 'http://127.0.0.1:3000/cashouts?a=1&b=2',
      headers: { authorization: '$SESSION', 'content-type': 'application/json' },
      body,
    }),
  )
  const words = Bun.spawn(['sh', '-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], {
    env: { SESSION: 'Service 0x1.2.0x3' },
  })
  expect((await new Response(words.stdout).text()).trim().split('\n')).toEqual([
    '-s',
    '-X',
    'POST',
    'http://127.0.0.1:3000/cashouts?a=1&b=2',
    '-H',
    'authorization: Service 0x1.2.0x3',
    '-H',
    'content-type: application/json',
    '--data-raw',
    body,
  ])
})
