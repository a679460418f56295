import { describe, expect, spyOn, test } from 'bun:test'
import { openLog } from '#platform/log'
import { openOutage } from '#platform/outage'

class Away extends Error {
  override name = 'Away'
}

function open(level = 'info') {
  const lines: { level: string; msg: string; reason?: string; awayMs?: number }[] = []
  const log = openLog('suite', level, { write: (line) => void lines.push(JSON.parse(line)) })
  let now = 1_000_000
  const outage = openOutage({
    name: 'postgres',
    log,
    clock: () => now,
    ofIt: (error) => error instanceof Away,
  })
  const told = () => lines.map(({ msg }) => msg)
  return { log, outage, lines, told, pass: (ms: number) => (now += ms) }
}

describe('an outage', () => {
  test('is logged when it begins, once a minute, and when it ends', () => {
    const { outage, lines, told, pass } = open()
    outage.works()
    for (let second = 0; second < 150; second++) {
      outage.failed(new Away('refused\nselect 1'))
      pass(1_000)
    }
    expect(told()).toEqual(['postgres unavailable', 'postgres still unavailable', 'postgres still unavailable'])
    expect(lines[0]).toMatchObject({ level: 'warn', reason: 'refused' })
    outage.works()
    outage.works()
    expect(told().slice(3)).toEqual(['postgres available again'])
    expect(lines[3]).toMatchObject({ level: 'info', awayMs: 150_000, failures: 150 })
  })

  test('is logged once it has a reason, and names the newest one once a minute', () => {
    const { outage, lines, pass } = open()
    outage.failed()
    expect(lines).toEqual([])
    outage.failed(new Away('refused'))
    pass(60_000)
    outage.failed(new Away('certificate has expired'))
    expect(lines.map(({ reason }) => reason)).toEqual(['refused', 'certificate has expired'])
  })

  test('is not ended by a response to a request sent before it began', () => {
    const { outage, told, pass } = open()
    outage.failed(new Away())
    pass(5)
    outage.works()
    expect(told()).toEqual(['postgres unavailable'])
    outage.back() // The caller that notices the recovery reports it at once.
    expect(told()).toEqual(['postgres unavailable', 'postgres available again'])
  })

  test('that comes and goes is logged at most every ten seconds, each time with its end', () => {
    const { outage, told, pass } = open()
    for (let second = 0; second < 21; second++) {
      outage.failed(new Away())
      pass(500)
      outage.back()
      pass(500)
    }
    const once = ['postgres unavailable', 'postgres available again']
    expect(told()).toEqual([...once, ...once, ...once])
  })
})

test('the errors after an outage are logged although the clock of the machine was set back', () => {
  const { now } = Date
  const told: string[] = []
  const log = openLog('suite', 'warn', { write: (line) => void told.push(JSON.parse(line).msg) })
  const outage = openOutage({ name: 'postgres', log, ofIt: (error) => error instanceof Away })
  outage.failed(new Away())
  outage.back()
  const passed = spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000)
  const setBack = spyOn(Date, 'now').mockImplementation(() => now() - 7_200_000)
  log.error({ err: new Away() }, 'a call failed')
  outage.failed(new Away())
  setBack.mockRestore()
  passed.mockRestore()
  expect(told).toEqual(['postgres unavailable', 'a call failed', 'postgres unavailable'])
})

describe('an error caused by an outage', () => {
  test('is logged at level debug until shortly after its end, and other errors normally', () => {
    const { log, outage, told, pass } = open()
    const wrapped = new Error('the round failed', { cause: new Away() })
    const fail = () => {
      log.warn({ err: new Away() }, 'directly')
      log.error({ err: wrapped }, 'as a cause')
      log.warn({ err: new Error('other') }, 'other')
    }
    fail()
    expect(told().splice(0)).toEqual(['directly', 'as a cause', 'other'])
    outage.failed(new Away())
    fail()
    outage.back()
    fail()
    expect(told().slice(3)).toEqual(['postgres unavailable', 'other', 'postgres available again', 'other'])
    pass(2_001)
    fail()
    expect(told().slice(7)).toEqual(['directly', 'as a cause', 'other'])
  })

  test('is logged if it raises an alarm or ends the process', () => {
    const { log, outage, told } = open()
    outage.failed(new Away())
    log.error({ err: new Away(), alarm: true }, 'an alarm is raised')
    log.fatal({ err: new Away() }, 'the process ends')
    expect(told()).toEqual(['postgres unavailable', 'an alarm is raised', 'the process ends'])
  })

  test('is written for readers of level debug', () => {
    const { log, outage, lines } = open('debug')
    outage.failed(new Away())
    log.warn({ err: new Away() }, 'directly')
    expect(lines.at(-1)).toMatchObject({ level: 'debug', msg: 'directly' })
  })
})
