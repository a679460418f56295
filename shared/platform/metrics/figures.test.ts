import { describe, expect, test } from 'bun:test'
import { shareFigures } from '#platform/metrics/figures'

function openFigures(answer: () => Promise<Record<string, unknown>>) {
  const time = { ms: 0 }
  const read = { count: 0 }
  const figures = shareFigures(
    () => {
      read.count += 1
      return answer()
    },
    () => time.ms,
  )
  return { time, read, figures }
}

describe('the metrics of a service', () => {
  test('are read once for all endpoints of a scrape, and again for the next', async () => {
    const { time, read, figures } = openFigures(async () => ({ waiting: 1 }))
    await Promise.all([figures(), figures(), figures()])
    expect(await figures()).toEqual({ waiting: 1, readMsAgo: 0 })
    expect(read.count).toBe(1)
    time.ms = 15_000
    await Promise.all([figures(), figures()])
    expect(read.count).toBe(2)
  })

  test('are the last ones, with their age, while a reading takes long', async () => {
    let hangs = false
    const never = new Promise<Record<string, unknown>>(() => {})
    const { time, read, figures } = openFigures(() => (hangs ? never : Promise.resolve({ open: 2 })))
    await figures()
    hangs = true
    time.ms = 15_000
    expect(await figures()).toEqual({ open: 2, readMsAgo: 15_000 })
    expect(await figures()).toEqual({ open: 2, readMsAgo: 15_000 })
    expect(read.count).toBe(2)
  })

  test('are absent while they cannot be read', async () => {
    let isDown = true
    const { time, figures } = openFigures(async () => {
      if (isDown) throw new Error('no database')
      return { open: 2 }
    })
    await expect(figures()).rejects.toThrow('no database')
    await expect(figures()).rejects.toThrow('no database')
    isDown = false
    time.ms = 15_000
    expect(await figures()).toEqual({ open: 2, readMsAgo: 0 })
  })
})
