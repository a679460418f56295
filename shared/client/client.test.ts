import { expect, test } from 'bun:test'
import { openClient } from '#shared/client/client'

test('a quote and a record count for the wallet once it has a session, and ask for no signature', async () => {
  let signed = 0
  const sent: [string, string | null][] = []
  const client = openClient({
    baseUrl: 'https://service.example',
    account: {
      address: '0xAb',
      signMessage: async () => `0x${++signed}` as const,
      signTypedData: async () => '0x',
    },
    fetch: async (url, { headers }) => {
      sent.push([new URL(url).pathname, new Headers(headers).get('authorization')])
      return Response.json({})
    },
  })
  const askBoth = async () => {
    await client.quote('USD/IDR')
    await client.record('0x1')
  }
  await askBoth()
  expect(signed).toBe(0)
  await client.me()
  await askBoth()
  const [, , [, session]] = sent as [unknown, unknown, [string, string]]
  expect(session).toStartWith('Service 0xab.')
  expect(sent).toEqual([
    ['/quote', null],
    ['/verify/0x1', null],
    ['/me', session],
    ['/quote', session],
    ['/verify/0x1', session],
  ])
  expect(signed).toBe(1)
})

test('a quote waits for no signature that the wallet is being asked for', async () => {
  const sent: (string | null)[] = []
  let decline = () => {}
  const client = openClient({
    baseUrl: 'https://service.example',
    account: {
      address: '0xAb',
      signMessage: () =>
        new Promise((_, reject) => {
          decline = () => reject(new Error('User rejected the request.'))
        }),
      signTypedData: async () => '0x',
    },
    fetch: async (_, { headers }) => {
      sent.push(new Headers(headers).get('authorization'))
      return Response.json({})
    },
  })
  const asking = client.me()
  expect(await client.quote('USD/IDR')).toEqual({ ok: {} as never })
  decline()
  await expect(asking).rejects.toThrow('User rejected')
  expect(sent).toEqual([null])
})
