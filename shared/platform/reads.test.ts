import { describe, expect, test } from 'bun:test'
import { batchReads, joinReads } from '#platform/reads'
import { waitUntil } from '#test/support/wait'

const openReadings = () => {
  const readings: { of: string[]; end: (value: string) => void; fail: () => void }[] = []
  const read = (of: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    readings.push({ of: [...of], end: resolve, fail: () => reject(new Error('failed')) })
    return promise
  }
  return { readings, read }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('reads of many keys', () => {
  const openBatched = () => {
    const { readings, read } = openReadings()
    return { readings, ask: batchReads<string, string>((keys) => read([...keys])) }
  }
  test('of one moment share one database read', async () => {
    const { readings, ask } = openBatched()
    const answers = Promise.all([ask('a'), ask('b'), ask('a')])
    await turn()
    expect(readings.map(({ of }) => of)).toEqual([['a', 'b']])
    readings[0]!.end('first')
    expect(await answers).toEqual(['first', 'first', 'first'])
  })
  test('that come during a read wait for the next one', async () => {
    const { readings, ask } = openBatched()
    const early = ask('a')
    await turn()
    const late = ask('a')
    await turn()
    expect(readings).toHaveLength(1)
    readings[0]!.end('before')
    expect(await early).toBe('before')
    await turn()
    readings[1]!.end('after')
    expect(await late).toBe('after')
  })
  test('fail only with their own read', async () => {
    const { readings, ask } = openBatched()
    const early = ask('a')
    await turn()
    const late = ask('b')
    readings[0]!.fail()
    await expect(early).rejects.toThrow('failed')
    await turn()
    readings[1]!.end('fine')
    expect(await late).toBe('fine')
  })
})

test('reads of many keys stop waiting for a hanging read', async () => {
  const { readings, read } = openReadings()
  const ask = batchReads<string, string>((keys) => read([...keys]), 10)
  void ask('a')
  await turn()
  const late = ask('b')
  await waitUntil('the next reading', () => readings.length === 2)
  readings[1]!.end('fine')
  expect(await late).toBe('fine')
})

describe('reads of one key', () => {
  const openJoined = (collectMs = 0) => {
    const { readings, read } = openReadings()
    return { readings, ask: joinReads((of: string) => read([of]), String, collectMs) }
  }
  test('begin at once, without waiting for other keys', () => {
    const { readings, ask } = openJoined()
    void ask('a')
    void ask('b')
    expect(readings.map(({ of }) => of)).toEqual([['a'], ['b']])
  })
  test('that come during a read share the next one, which sees later changes', async () => {
    const { readings, ask } = openJoined()
    const early = ask('a')
    const late = Promise.all([ask('a'), ask('a')])
    await turn()
    expect(readings).toHaveLength(1)
    readings[0]!.end('before')
    expect(await early).toBe('before')
    await waitUntil('the next reading', () => readings.length === 2)
    readings[1]!.end('after')
    expect(await late).toEqual(['after', 'after'])
  })
  test('that are expensive wait briefly for callers that were just answered', async () => {
    const { readings, ask } = openJoined(5)
    const early = ask('a')
    const late = ask('a')
    readings[0]!.end('before')
    await early
    const again = ask('a')
    await waitUntil('the next reading', () => readings.length === 2)
    readings[1]!.end('after')
    expect([await late, await again]).toEqual(['after', 'after'])
  })
  test('after a failed read start a new one', async () => {
    const { readings, ask } = openJoined()
    const early = ask('a')
    const late = ask('a')
    readings[0]!.fail()
    await expect(early).rejects.toThrow('failed')
    await waitUntil('the next reading', () => readings.length === 2)
    readings[1]!.end('fine')
    expect(await late).toBe('fine')
  })
  test('store nothing after they end', async () => {
    const { readings, ask } = openJoined()
    const first = ask('a')
    readings[0]!.end('once')
    await first
    await turn()
    void ask('a')
    expect(readings).toHaveLength(2)
  })
})
