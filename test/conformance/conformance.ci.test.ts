import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshSecret } from '#infra/local/keys'
import { openSandbox } from '#infra/sandbox/sandbox'
import { testConfig } from '../support/sandbox'
import { conform, runAll } from './conform'
import { type FactName, facts } from './facts'
import { factsOf, factsText } from './report'
import { openSandboxTarget } from './sandbox-target'
import type { SuiteResult, Target } from './step'
import { openTestModeTarget } from './test-mode-target'

const names = [
  'payments: account ID',
  'refunds: account ID',
  'payments: account MY',
  'refunds: account MY',
  'payouts: account ID',
  'payouts v3: account ID',
  'identity: sumsub',
  'identity: persona',
  'rates: frankfurter',
  'rates: bnm',
  'rates: open-er-api',
  'rates: indodax',
  'chain',
]
const closing = new AsyncDisposableStack()
afterAll(() => closing.disposeAsync())

async function saying(words: string[], env: Record<string, string> = {}) {
  const said: string[] = []
  const code = await conform(words, env, (text) => void said.push(text))
  return { code, text: said.join('\n') }
}
const serve = (answer: (request: Request) => Response | Promise<Response>) => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  closing.defer(() => server.stop(true))
  return server.url.origin
}

describe('against the sandbox', () => {
  let target: Target
  beforeAll(async () => {
    target = closing.use(await openSandboxTarget())
  })

  test('every client has a suite', () => {
    expect(target.suites.map(({ name }) => name)).toEqual(names)
  })

  const results = new Map<string, SuiteResult>()
  /** Runs a suite once for all tests. */
  const resultOf = async (name: string): Promise<SuiteResult> => {
    const result = results.get(name) ?? (await runAll(target, name, () => {}))[0]!
    results.set(name, result)
    return result
  }

  test.each(names)('every step of "%s" passes', async (name) => {
    const { rows } = await resultOf(name)
    expect(rows.length).toBeGreaterThan(4)
    expect(rows.filter(({ verdict }) => verdict !== 'pass')).toEqual([])
  })

  test('every fact has a step', async () => {
    const all: SuiteResult[] = []
    for (const name of names) all.push(await resultOf(name))
    const shown = factsOf(all, 'sandbox').filter(({ state }) => state === 'in the sandbox only')
    expect(shown.map(({ name }) => name).toSorted()).toEqual((Object.keys(facts) as FactName[]).toSorted())
  })
})

describe('the facts of a run', () => {
  const row = (verdict: 'pass' | 'fail' | 'not here', fact: FactName) => ({
    name: 'a step',
    expected: 'so',
    seen: 'so',
    verdict,
    fact,
  })
  const stateOf = (rows: ReturnType<typeof row>[], target: 'sandbox' | 'test-mode') =>
    factsOf([{ name: 'suite', rows }], target).find(({ name }) => name === 'captures')!.state

  test.each([
    ['confirmed', 'test-mode', ['pass']],
    ['in the sandbox only', 'sandbox', ['pass']],
    ['open', 'test-mode', ['not here']],
    ['open', 'test-mode', ['pass', 'not here']],
    ['open', 'test-mode', []],
    ['NOT SO', 'sandbox', ['pass', 'fail']],
  ] as const)('are %s on %s after %p', (state, target, verdicts) => {
    const rows = verdicts.map((verdict) => row(verdict, 'captures'))
    expect(stateOf(rows, target)).toBe(state)
  })

  test('are not confirmed by a run that could only contradict them', () => {
    const rows = [row('pass', 'account-zero')]
    const states = factsOf([{ name: 'suite', rows }], 'test-mode')
    expect(states.find(({ name }) => name === 'account-zero')!.state).toBe('not contradicted')
  })

  test('are printed with the party that must confirm them, until they are confirmed', () => {
    const open = factsText([{ name: 'sender-verification', state: 'open' }])
    expect(open).toContain('open: this merchant is not of the virtual-asset category')
    expect(open).toContain('by: the provider, in writing')
    expect(open).toContain('takes: a week')
    expect(factsText([{ name: 'captures', state: 'confirmed' }])).not.toContain('takes:')
  })
})

// The step waits for a response that never comes.
const hasty = { deadlineMs: 5_000, everyMs: 20 }
type Change = (text: string, request: { path: string; method: string }) => string | Response
const wrongly = (change: Change) => (sandbox: string) =>
  serve(async (request) => {
    const { pathname: path, search } = new URL(request.url)
    const { method, headers } = request
    const body = method === 'POST' ? await request.text() : undefined
    const answer = await fetch(`${sandbox}${path}${search}`, { method, headers, body })
    const changed = change(await answer.text(), { path, method })
    if (changed instanceof Response) return changed
    const { status } = answer
    return new Response(changed, { status, headers: { 'Content-Type': 'application/json' } })
  })

describe('a provider with a different response fails the matching step:', () => {
  const cases: [string, string, string, Change][] = [
    [
      'a sen less than was paid',
      'payments: account MY',
      'the payment has its amount',
      (text) => text.replace('"capture_amount":12.34', '"capture_amount":12.33'),
    ],
    [
      'amounts that are no numbers',
      'payments: account ID',
      'the payment has its amount',
      (text) => text.replace('"capture_amount":150001', '"capture_amount":"Rp 150.001"'),
    ],
    [
      'another channel than was used',
      'payments: account ID',
      'the payment has its amount',
      (text) => text.replace('"channel_code":"QRIS"', '"channel_code":"DANA"'),
    ],
    [
      'a cancelled session that stays active',
      'payments: account ID',
      'a cancelled checkout is closed',
      (text) => text.replace('"CANCELED"', '"ACTIVE"'),
    ],
    [
      'an unknown id that is refused otherwise',
      'payments: account ID',
      'an unknown payment is not found',
      (text) => text.replace('DATA_NOT_FOUND', 'SOMETHING_ELSE'),
    ],
    [
      'a repeated key that makes another payout',
      'payouts: account ID',
      'the same key with the same body',
      (text, { path, method }) =>
        path === '/v2/payouts' && method === 'POST'
          ? text.replace(/"id":"disb-[^"]*"/, `"id":"disb-${crypto.randomUUID()}"`)
          : text,
    ],
    [
      'a status we never saw',
      'payouts: account ID',
      'account 654321',
      (text) => text.replaceAll('"REVERSED"', '"UNDONE"'),
    ],
    [
      'a list of banks without limits',
      'payouts: account ID',
      'the list of banks',
      (text) => text.replaceAll('amount_limits', 'limits'),
    ],
    [
      'a list by reference that ignores the reference',
      'payouts: account ID',
      'it is found by our reference',
      (text, { path, method }) => (path === '/v2/payouts' && method === 'GET' ? '{"has_more":false,"data":[]}' : text),
    ],
    [
      'a list of transactions without this payment',
      'payments: account MY',
      'the payment through TOUCHNGO is in the list',
      (text, { path }) => (path === '/transactions' ? '{"has_more":false,"data":[]}' : text),
    ],
    [
      'a list of transactions for which the key has no permission',
      'payments: account ID',
      'the key has the permission Transaction Read',
      (text, { path }) =>
        path === '/transactions'
          ? Response.json({ error_code: 'REQUEST_FORBIDDEN_ERROR', message: '' }, { status: 403 })
          : text,
    ],
    [
      'a balance for which the key has no permission',
      'payments: account MY',
      'the key has the permission Balance Read',
      (text, { path }) =>
        path === '/balance'
          ? Response.json({ error_code: 'REQUEST_FORBIDDEN_ERROR', message: '' }, { status: 403 })
          : text,
    ],
    [
      'a refund that is listed under its payment',
      'refunds: account ID',
      'the refund is in the list under its own id',
      (text) => text.replace(/"product_id":"rfd-[^"]*"/, '"product_id":"py-other"'),
    ],
    [
      'a chargeback that is listed without a reference',
      'refunds: account MY',
      'it has the reference of its payment there',
      (text) => text.replace(/("type":"CHARGEBACK".*?"reference_id":)"[^"]*"/, '$1null'),
    ],
    [
      'a reversed payout that is listed as paid',
      'payouts: account ID',
      'every payout is in the list',
      (text, { path }) => (path === '/transactions' ? text.replaceAll('"REVERSED"', '"SUCCESS"') : text),
    ],
    [
      'a refund of another payment request',
      'refunds: account ID',
      'the refund is found',
      (text, { path }) => (path.startsWith('/refunds/') ? text.replace(/"pr-[^"]*"/, '"pr-other"') : text),
    ],
  ]
  test.each(cases)('%s', async (_, suite, step, change) => {
    await using target = await openSandboxTarget(wrongly(change), hasty)
    const chosen = target.suites.filter(({ name }) => name === suite)
    const steps = chosen.map((each) => ({ ...each, steps: untilStep(each.steps, step) }))
    const [result] = await runAll({ ...target, suites: steps }, null, () => {})
    expect(result!.rows.at(-1)).toMatchObject({ verdict: 'fail' })
    expect(result!.rows.filter(({ verdict }) => verdict === 'fail')).toHaveLength(1)
    expect(result!.rows.at(-1)!.name).toStartWith(step)
  })
})

function untilStep<S extends { name: string }>(steps: readonly S[], name: string): S[] {
  const end = steps.findIndex((step) => step.name.startsWith(name))
  expect(end).toBeGreaterThanOrEqual(0)
  return steps.slice(0, end + 1)
}

describe('test mode', () => {
  test('without keys skips every suite with the reason, and exits with 0', async () => {
    const { code, text } = await saying(['--target', 'test-mode'])
    expect(code).toBe(0)
    for (const name of names) expect(text).toContain(`${name}: skipped, `)
    for (const variable of ['XENDIT_ID_TEST_KEY', 'XENDIT_MY_TEST_KEY', 'SUMSUB_APP_TOKEN'])
      expect(text).toContain(variable)
    expect(text).toContain('13 suites skipped')
  })

  test.each([
    ['XENDIT_ID_TEST_KEY', 'xnd_production_abc123'],
    ['XENDIT_MY_TEST_KEY', 'some-other-abc123'],
    ['SUMSUB_APP_TOKEN', 'prd:abc123'],
    ['PERSONA_API_KEY', 'persona_production_abc123'],
  ])('security: a live key in %s is refused before any call, and never printed', async (name, key) => {
    let calls = 0
    const url = serve(() => {
      calls++
      return Response.json({})
    })
    const env = { XENDIT_URL: url, SUMSUB_URL: url, PERSONA_URL: url, [name]: key }
    const { code, text } = await saying(['--target', 'test-mode'], env)
    expect({ code, calls }).toEqual({ code: 1, calls: 0 })
    expect(text).toContain(`${name} is not a test key`)
    expect(text).not.toContain(key)
  })

  test('security: a key repeated by the provider is never printed', async () => {
    const key = freshSecret('xnd_development_')
    const url = serve((request) => {
      const shown = request.headers.get('Authorization')
      return Response.json({ error_code: `${key} ${shown}`, message: key }, { status: 400 })
    })
    const env = { XENDIT_URL: url, XENDIT_ID_TEST_KEY: key }
    const { code, text } = await saying(['--target', 'test-mode', '--suite', 'account ID'], env)
    expect(code).toBe(1)
    expect(text).toContain('[removed]')
    expect(text).not.toContain(key)
    expect(text).not.toContain(btoa(`${key}:`))
  })

  test('with keys and without --interactive passes every step that needs no payer', async () => {
    const secretKeys = { ID: freshSecret('xnd_development_'), MY: freshSecret('xnd_development_') }
    await using sandbox = openSandbox({ ...testConfig, secretKeys })
    const env = { XENDIT_URL: sandbox.url, XENDIT_MY_TEST_KEY: secretKeys.MY }
    const { code, text } = await saying(['--target', 'test-mode', '--suite', 'account MY'], env)
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(text).toContain('needs a payer: run with --interactive')
    expect(text).toMatch(/ok {2}a cancelled checkout is closed/)
  })
})

describe('live accounts', () => {
  /** A sandbox, and the methods of the calls that reach it. */
  function watched(change: (request: Request) => Response | undefined = () => undefined) {
    const secretKeys = { ID: freshSecret('xnd_development_'), MY: freshSecret('xnd_development_') }
    const sandbox = closing.use(openSandbox({ ...testConfig, secretKeys }))
    const methods: string[] = []
    const url = serve(async (request) => {
      const { pathname, search } = new URL(request.url)
      methods.push(request.method)
      return (
        change(request) ?? fetch(sandbox.url + pathname + search, { headers: request.headers, method: request.method })
      )
    })
    return { methods, env: { XENDIT_URL: url, XENDIT_ID_LIVE_KEY: secretKeys.ID, XENDIT_MY_LIVE_KEY: secretKeys.MY } }
  }

  test('are read without a call that writes, and webhooks are left to the operator', async () => {
    const { methods, env } = watched()
    const { code, text } = await saying(['--live-read-only'], env)
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(text).toContain('7 steps passed, 0 failed, 2 cannot be shown on this target')
    expect(text).toMatch(/ - {3}the topics and tokens of webhooks are those of the runbook/)
    expect([...new Set(methods)]).toEqual(['GET'])
    expect(methods).toHaveLength(7)
  })

  test('with a key that lacks a permission fail in that step, with the reason', async () => {
    const refused = Response.json({ error_code: 'REQUEST_FORBIDDEN_ERROR', message: '' }, { status: 403 })
    const { env } = watched(({ url }) => (new URL(url).pathname === '/transactions' ? refused.clone() : undefined))
    const { code, text } = await saying(['--live-read-only', '--suite', 'account ID'], env)
    expect(code).toBe(1)
    expect(text).toMatch(/FAIL {2}a row of the list of transactions .* refused: 403 REQUEST_FORBIDDEN_ERROR/)
    expect(text).toContain('3 steps passed, 1 failed')
  })

  test('without keys are skipped, with the variables to set', async () => {
    const { code, text } = await saying(['--live-read-only'])
    expect(code).toBe(0)
    for (const name of ['XENDIT_ID_LIVE_KEY', 'XENDIT_MY_LIVE_KEY']) expect(text).toContain(`${name} is not set`)
  })

  test.each([
    ['a test key at the real provider', 'xnd_development_abc123', 'https://api.xendit.co', 'is not a live key'],
    ['a live key at a sandbox', 'xnd_production_abc123', undefined, 'a sandbox gets no live key'],
  ])('security: %s is refused before any call, and never printed', async (_, key, url, words) => {
    let calls = 0
    const local = serve(() => {
      calls++
      return Response.json({})
    })
    const { code, text } = await saying(['--live-read-only'], { XENDIT_URL: url ?? local, XENDIT_MY_LIVE_KEY: key })
    expect({ code, calls }).toEqual({ code: 1, calls: 0 })
    expect(text).toContain(words)
    expect(text).not.toContain(key)
  })
})

test('test mode with --interactive also covers payments and refunds', async () => {
  const secretKeys = { ID: freshSecret('xnd_development_'), MY: freshSecret('xnd_development_') }
  await using sandbox = openSandbox({ ...testConfig, secretKeys })
  const env = { XENDIT_URL: sandbox.url, XENDIT_ID_TEST_KEY: secretKeys.ID }
  const asked: string[] = []
  const say = (line: string) => {
    asked.push(line)
    const [, channel_code, session] = /^pay through (\w+), .*\/checkout\/(ps-\w+)$/.exec(line) ?? []
    const body = JSON.stringify({ channel_code })
    void fetch(`${sandbox.url}/control/sessions/${session}/choose`, { method: 'POST', body })
  }
  const waiting = { deadlineMs: 60_000, everyMs: 300 }
  await using target = await openTestModeTarget(env, { payerMs: 60_000, say, waiting })
  const results = await runAll(target, 'account ID', () => {})
  expect(asked).toHaveLength(2)
  const others = results.flatMap(({ rows }) => rows).filter(({ verdict }) => verdict !== 'pass')
  // These steps need the other account's key, would use up the real budget, or make a chargeback.
  expect(others.map(({ seen, verdict }) => [verdict, seen])).toEqual([
    ['not here', 'needs the keys of both accounts'],
    ['not here', 'needs an allow-list without this address'],
    ['not here', 'a stray 429 cannot be provoked: look for one in the logs'],
    ['not here', "would use up the account's call budget"],
    ['not here', 'test mode makes no chargebacks: compare a live one'],
    ['not here', 'an earlier step left no chargeback'],
  ])
})

test.each([
  [['--target', 'live']],
  [['--live-read-only', '--target', 'sandbox']],
  [['--live-read-only', '--interactive']],
  [['--fast']],
  [['--minutes', '0']],
])('invalid arguments (%p) end with exit code 2 and the usage', async (words) => {
  const { code, text } = await saying(words)
  expect(code).toBe(2)
  expect(text).toContain('bun run prove conformance [--target sandbox|test-mode]')
})
