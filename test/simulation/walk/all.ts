import { count } from '../report'
import { spread } from '../spread'
import type { Task } from '../worker'
import { named, type Walked } from './walks'

export async function walkAll(which: string, workers: number, tell: (line: string) => void): Promise<boolean> {
  const names = named(which)
  let given = 0
  let isWell = true
  await spread<Task, Walked>({
    workers: Math.min(workers, names.length),
    next: () => (given < names.length ? { walk: names[given++]! } : undefined),
    onResult: (walked) => {
      if (!toldOf(walked, tell)) isWell = false
    },
  })
  return isWell
}

function toldOf(walked: Walked, tell: (line: string) => void): boolean {
  const { name, states, steps, ends, isWhole, seconds, wrong } = walked
  const seen = isWhole ? 'all visited, none left' : 'not all visited'
  const told = `${count(states)} states, ${count(steps)} steps, ${count(ends)} ends`
  tell(`${name}: ${told}: ${seen} (${count(seconds)} s)`)
  if (!wrong) return isWhole
  tell(`  ${wrong.what}`)
  for (const step of wrong.story) tell(`    ${step}`)
  return false
}
