import { expect, test } from 'bun:test'
import { openSandbox } from './sandbox'

test('a list of actions that stays unanswered is given up, and its request is aborted', async () => {
  const aborted = Promise.withResolvers<void>()
  await using server = Bun.serve({
    port: 0,
    fetch: ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      return new Promise<Response>(() => {})
    },
  })
  const sandbox = openSandbox({ url: server.url.origin, token: 't' }, { listMs: 500, actMs: 500 })
  expect((await sandbox.actions()).status).toBe(503)
  await aborted.promise
  server.stop(true)
})

test('an action that is not answered to its end may have run', async () => {
  await using server = Bun.serve({ port: 0, fetch: () => new Response('{"said":') })
  const sandbox = openSandbox({ url: server.url.origin, token: 't' })
  const answer = await sandbox.act('kill', new Request('http://x', { method: 'POST', body: '{}' }))
  const error = 'No response: it may or may not have run.'
  expect([answer.status, await answer.json()]).toEqual([503, { error }])
})

test('an action without a process to run it has not run', async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response() })
  const url = server.url.origin
  await server.stop(true)
  const act = new Request('http://x', { method: 'POST', body: '{}' })
  const answer = await openSandbox({ url, token: 't' }).act('kill', act)
  const error = 'The process that started this stack is not running.'
  expect([answer.status, await answer.json()]).toEqual([503, { error }])
})
