import { describe, expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { startLoop } from '#platform/loop'

const never = 2 ** 30

/** Opens rounds that the test ends; `began` resolves when the round begins. */
function openRounds(everyMs: number) {
  const rounds = Array.from({ length: 5 }, () => ({
    began: Promise.withResolvers<void>(),
    end: Promise.withResolvers<void>(),
  }))
  let count = 0
  const failures: string[] = []
  const log = Object.assign(Object.create(openLog('loop', 'silent')), {
    warn: ({ err, loop }: { err: Error; loop: string }) => failures.push(`${loop}: ${err.message}`),
    info: ({ loop }: { loop: string }, said: string) => failures.push(`${loop}: ${said}`),
  })
  const work = async () => {
    const round = rounds[count++]!
    round.began.resolve()
    await round.end.promise
  }
  const loop = startLoop({ name: 'rounds', everyMs, log, work })
  const began = (round: number) => rounds[round]!.began.promise
  return { loop, rounds, failures, began, count: () => count }
}

describe('a loop', () => {
  test('runs again after its pause, also after a failed round', async () => {
    const { loop, rounds, failures, began } = openRounds(1)
    await began(0)
    rounds[0]!.end.reject(new Error('no'))
    await began(1)
    expect(failures).toEqual(['rounds: no'])
    rounds[1]!.end.resolve()
    await began(2)
    rounds[2]!.end.resolve()
    for (const round of rounds) round.end.resolve()
    await loop[Symbol.asyncDispose]()
  })

  test('logs a repeated failure once, a different one at once, and its recovery', async () => {
    const { loop, rounds, failures, began } = openRounds(1)
    for (const [round, word] of ['no', 'no', 'never'].entries()) {
      await began(round)
      rounds[round]!.end.reject(new Error(word))
    }
    await began(3)
    expect(failures).toEqual(['rounds: no', 'rounds: never'])
    rounds[3]!.end.resolve()
    await began(4)
    expect(failures.slice(2)).toEqual(['rounds: loop recovered'])
    rounds[4]!.end.resolve()
    await loop[Symbol.asyncDispose]()
  })

  test('runs at once if it is triggered during its pause', async () => {
    const { loop, rounds, began, count } = openRounds(never)
    await began(0)
    rounds[0]!.end.resolve()
    await new Promise(setImmediate)
    expect(count()).toBe(1)
    loop.poke()
    await began(1)
    rounds[1]!.end.resolve()
    await loop[Symbol.asyncDispose]()
  })

  test('runs again at once if it was triggered during its round', async () => {
    const { loop, rounds, began } = openRounds(never)
    await began(0)
    loop.poke()
    rounds[0]!.end.resolve()
    await began(1)
    rounds[1]!.end.resolve()
    await loop[Symbol.asyncDispose]()
  })

  test('ends after the current round', async () => {
    const { loop, rounds, began, count } = openRounds(never)
    await began(0)
    let ended = false
    const end = loop[Symbol.asyncDispose]().then(() => {
      ended = true
    })
    await new Promise(setImmediate)
    expect(ended).toBe(false)
    rounds[0]!.end.resolve()
    await end
    expect(count()).toBe(1)
  })
})
