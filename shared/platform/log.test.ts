import { describe, expect, test } from 'bun:test'
import { HttpRequestError } from 'viem'
import { openLog, openLogThrottled } from '#platform/log'
import { secretWordsOf } from '#platform/redaction'

function openThrottled() {
  const lines: { level: string; msg: string; lane?: string }[] = []
  const log = openLog('suite', 'warn', { write: (line) => void lines.push(JSON.parse(line)) })
  let now = 1_000_000
  const logThrottled = openLogThrottled(log, () => now)
  return { lines, logThrottled, pass: (ms: number) => (now += ms) }
}

describe('a repeated problem', () => {
  test('is logged once in 10 s, each problem separately', () => {
    const { lines, logThrottled, pass } = openThrottled()
    for (let round = 0; round < 10; round++) {
      logThrottled.warn('a', {}, 'a failed')
      if (round % 5 === 0) logThrottled.warn(`b${round}`, {}, 'b failed')
      pass(1_000)
    }
    expect(lines.map(({ msg }) => msg)).toEqual(['a failed', 'b failed', 'b failed'])
    pass(1)
    logThrottled.warn('a', {}, 'a failed')
    expect(lines).toHaveLength(4)
  })

  test('is a warning, or an error if it is an alarm', () => {
    const { lines, logThrottled } = openThrottled()
    logThrottled.warn('a', { lane: '1' }, 'waits')
    logThrottled.alarm('b', {}, 'lane is blocked')
    expect(lines).toMatchObject([
      { level: 'warn', lane: '1', msg: 'waits' },
      { level: 'error', alarm: true, msg: 'lane is blocked' },
    ])
  })

  test('that becomes an alarm is one at once, also right after its warning', () => {
    const { lines, logThrottled } = openThrottled()
    logThrottled.warn('halted', {}, 'chain head has not advanced')
    logThrottled.alarm('halted', {}, 'chain head has not advanced')
    logThrottled.alarm('halted', {}, 'chain head has not advanced')
    logThrottled.warn('halted', {}, 'chain head has not advanced')
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'error'])
  })
})

describe('a field named like a secret', () => {
  const word = 'hidden-from-everybody'
  const lineOf = (fields: object) => {
    const lines: string[] = []
    openLog('suite', 'info', { write: (line) => void lines.push(line) }).info(fields, 'said')
    expect(lines).toHaveLength(1)
    return lines[0]!
  }
  const failed = (own: object) => Object.assign(new Error('failed'), own)
  test.each([
    ['at the top', { password: word, id: 'kept' }],
    ['with a dash in its name', { 'x-callback-token': word, id: 'kept' }],
    ['one deeper', { asked: { accountNumber: word, id: 'kept' } }],
    ['two deeper', { asked: { bank: { accountHolderName: word, id: 'kept' } } }],
    ['in a list', { asked: [{ body: word, id: 'kept' }] }],
    ['in an error', { err: failed({ body: word, id: 'kept' }) }],
    ['in a property of an error', { err: failed({ request: { body: word, id: 'kept' } }) }],
    ['whatever it holds', { body: { text: word }, id: 'kept' }],
  ])('is removed %s', (_, fields) => {
    const line = lineOf(fields)
    expect(line).not.toContain(word)
    expect(line).toContain('[removed]')
    expect(line).toContain('kept')
  })
  test("stays unchanged in the caller's object", () => {
    const fields = { asked: { password: word } }
    lineOf(fields)
    expect(fields.asked.password).toBe(word)
  })
  test('removes nothing else', () => {
    const at = new Date(0)
    const kept = { at, list: [1, 'two', null], deep: { flag: true, none: undefined }, big: 1.5 }
    expect(JSON.parse(lineOf(kept))).toMatchObject(JSON.parse(JSON.stringify(kept)))
  })
  test('is looked for only as deep as a log line goes, so circular objects end', () => {
    const circle: { self?: unknown; id: string } = { id: 'kept' }
    circle.self = circle
    expect(lineOf({ circle })).toContain('kept')
  })
})

describe('a secret quoted by an error', () => {
  const key = 'k'.repeat(32)
  const urls = [
    `https://rpc.example/v2/${key}`,
    `https://rpc.example/?apikey=${key}`,
    `https://user:${key}@rpc.example`,
    `https://${key}@rpc.example`,
    `wss://RPC.example/v2/${key}/`,
    'https://rpc.example/v2/short',
  ]
  const seen = (url: string, log: (line: ReturnType<typeof openLog>) => void): string => {
    const lines: string[] = []
    const words = secretWordsOf(` ${url}, https://other.example`)
    log(openLog('suite', 'info', { write: (line) => void lines.push(line) }, words))
    return lines.join('')
  }

  test.each(urls)('is removed from every field: %s', (url) => {
    const cause = new Error(`fetch failed for ${new URL(url).href}`)
    const details = `invalid API key ${url.includes(key) ? key : url}`
    const error = new HttpRequestError({ url, status: 401, details, cause, headers: new Headers() })
    const lines = seen(url, (log) => {
      log.warn({ err: error, url, deep: [{ urls: [url] }] }, `no answer of ${url}`)
      log.error({ err: new AggregateError([error], error.message) }, 'failed')
    })
    expect(lines).toContain('[removed]')
    expect(lines).not.toContain(url.includes(key) ? key : '/short')
    for (const line of lines.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
  })

  test.each([
    ['postgres://payments@postgres:5432/postgres', []],
    [`https://${'k'.repeat(24)}@rpc.example`, ['k'.repeat(24)]],
  ])('the user name in %s is kept unless it is a key: %p', (url, hidden) => {
    const { username } = new URL(url)
    expect(secretWordsOf(url).filter((word) => word === username)).toEqual(hidden)
  })

  test('removes nothing else: an endpoint without a key stays', () => {
    const lines = seen(urls[0]!, (log) => log.info('asked https://other.example'))
    expect(lines).toContain('asked https://other.example')
  })
})

test('work goes on while a full disk takes no log line; no line is kept beyond a limit, and failed writes are counted', async () => {
  const work = `
    import { openLog } from '#platform/log'
    import { registry } from '#platform/metrics/measures'
    const log = openLog('gateway', 'info')
    const line = 'x'.repeat(1_000)
    for (let done = 0; done < 20_000; done++) log.info(line)
    const [{ value }] = (await registry.getSingleMetric('ausd_log_writes_failed_total').get()).values
    console.error(process.memoryUsage.rss() < 150_000_000 ? 'all done' : 'too much memory', value > 0)`
  const child = Bun.spawn([process.execPath, '-e', work], {
    cwd: import.meta.dir,
    stdout: Bun.file('/dev/full'),
    stderr: 'pipe',
  })
  expect(await new Response(child.stderr).text()).toBe('all done true\n')
  expect(await child.exited).toBe(0)
})
