import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ControlAction } from './action'
import { type Controls, openControlsListener } from './listener'

const done: unknown[] = []
const actions: ControlAction[] = [
  {
    name: 'kill',
    group: 'Processes',
    title: 'Kill',
    confirm: 'Really?',
    fields: [
      { name: 'service', label: 'Service', choices: [{ value: 'pricing', label: 'pricing' }] },
      { name: 'times', label: 'Times', pattern: '[0-9]{1,2}' },
    ],
    act: async (given) => {
      done.push(given)
      return { said: 'Killed.' }
    },
  },
  {
    name: 'pay',
    group: 'Checkouts',
    title: 'Pay',
    confirm: 'Really?',
    fields: [],
    disabled: 'No checkout is open.',
    act: async () => ({ said: 'Paid.' }),
  },
]

let controls: Controls
beforeAll(() => {
  controls = openControlsListener()
  controls.offer(async () => actions)
})
afterAll(() => controls[Symbol.asyncDispose]())

const call = async (path: string, body?: unknown, more: Record<string, string> = {}) => {
  const headers = { authorization: `Bearer ${controls.token}`, ...more }
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${controls.url}${path}`, { headers, ...init })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('the controls of a local stack', () => {
  test('the list of actions gives the reason for each that is unavailable', async () => {
    const { status, body } = await call('/actions')
    expect(status).toBe(200)
    expect(body.actions).toEqual([
      expect.objectContaining({ name: 'kill' }),
      expect.objectContaining({ name: 'pay', disabled: 'No checkout is open.' }),
    ])
  })

  test('an action runs with the given values', async () => {
    const given = { service: 'pricing', times: '3' }
    expect(await call('/actions/kill', given)).toEqual({ status: 200, body: { said: 'Killed.' } })
    expect(done).toEqual([given])
  })

  test.each([
    ['a service that is not offered', '/actions/kill', { service: 'init', times: '3' }, 400],
    ['a text of another form', '/actions/kill', { service: 'pricing', times: '3; rm' }, 400],
    ['a field that is left out', '/actions/kill', { service: 'pricing' }, 400],
    ['no body', '/actions/kill', null, 400],
    ['an action that is unavailable now', '/actions/pay', {}, 409],
    ['an unknown action', '/actions/other', {}, 404],
  ] as const)('security: the controls refuse %s', async (_, path, body, status) => {
    const before = done.length
    expect((await call(path, body)).status).toBe(status)
    expect(done).toHaveLength(before)
  })

  test.each([
    ['without its token', { authorization: 'Bearer ' }, 401],
    ['from a page of a browser', { origin: 'http://127.0.0.1:3001' }, 403],
    ['from a browser', { 'sec-fetch-site': 'cross-site' }, 403],
  ] as const)('security: the controls refuse a request %s', async (_, headers, status) => {
    expect((await call('/actions', undefined, headers)).status).toBe(status)
  })
})
